/* How a log of transactions lies in its region. See viper/txlog.h.
 *
 *     | vp_txlog | ring ... |
 *
 * The task's words and the evaluator's are 128 bytes apart, as in layout.h.
 */
#ifndef VIPER_SRC_TXLOG_H
#define VIPER_SRC_TXLOG_H

#include "order.h"
#include "progress.h"
#include "shared.h"
#include "viper/txlog.h"

/* A position that is written twice, so that one of the two is whole whenever its writer dies. */
typedef struct {
    vp_progress first, second;
} vp_twice;

typedef struct {
    vp_word tail, head; /* bytes published, and released */
    vp_word said;       /* raised behind whatever is told, see txgroup.h */
    vp_twice collected;
} vp_txtask_words;

typedef struct {
    vp_word evaluated; /* bytes */
    vp_word waits;     /* how many were evaluated when the next transaction was seen, and was not below the frontier */
} vp_txevaluator_words;

struct vp_txlog {
    uint64_t ring_at, bytes; /* bytes from the log's start to its ring, and how many this has */
    uint32_t component, task;
    alignas(VP_LINE) vp_txtask_words task_words;
    alignas(VP_LINE) vp_txevaluator_words evaluator;
};

static inline vp_tx *vp_txlog_place(const vp_txlog *log, uint64_t at)
{
    return (vp_tx *)((char *)log + log->ring_at + (at & (log->bytes - 1)));
}

static inline int64_t *vp_tx_registers(vp_tx *tx)
{
    return (int64_t *)(tx + 1);
}

static inline vp_tx_instruction *vp_tx_program(vp_tx *tx)
{
    return (vp_tx_instruction *)(vp_tx_registers(tx) + (tx->registers + 1) / 2 * 2);
}

static inline vp_position vp_tx_position(const vp_tx *tx)
{
    return (vp_position){tx->ts, tx->hi, tx->lo, 0};
}

void vp_twice_publish(vp_twice *twice, vp_position position);

/* The latest one, or, while another is being written, the one before. */
vp_position vp_twice_read(const vp_twice *twice);

#endif
