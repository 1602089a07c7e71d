/* What a process tells of its choice in shared memory. See viper/txchoice.h.
 *
 *     | vp_txchoice_words | the region of a scheme, if there may be one |
 *
 * Who evaluates writes the words; others read each of them as it is.
 */
#ifndef VIPER_SRC_TXCHOICE_H
#define VIPER_SRC_TXCHOICE_H

#include "layout.h"
#include "txgroup.h"

typedef struct {
    alignas(VP_LINE) vp_word serial;
    vp_word parallel, serial_ps, parallel_ps, reason;
} vp_txchoice_words;

#endif
