/* The progress word: a position that one task publishes over and over and another one reads.
 *
 * Roles.       One writer (the ring's producer), one reader (its consumer).
 * Invariant.   What the writer publishes never descends, so an older position is weaker but never wrong.
 * Torn reads.  A position is three words. Version is odd while they change. The reader takes version,
 *              words, version; it keeps what it knew unless both versions are the same even number.
 *              Version is odd (relaxed) before any word is stored (R3, release). A reader that sees a
 *              new word (A3, acquire) therefore sees that odd version, or a later one, in its second
 *              look; one that saw the even version of R2 in its first look (A2) sees no older word.
 * Wrap-around. Version would have to advance by exactly 2^64 between two looks.
 * Progress.    Wait-free on both sides. The reader tries once: a writer that was stopped between two
 *              words, or died there, holds nobody up.
 */
#ifndef VIPER_PROGRESS_H
#define VIPER_PROGRESS_H

#include <stdbool.h>

#include "layout.h"

void vp_progress_publish(vp_progress *progress, vp_position position);

/* Reads into `position`; false, and `position` untouched, if it was just being written. */
bool vp_progress_read(const vp_progress *progress, vp_position *position);

#endif
