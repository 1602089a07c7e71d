/* The merge: what one reader of a gate sees, one sequence in position order.
 *
 * Each source has a bound: the position of its first waiting tuple, or, while none waits, a position
 * below which nothing more will come from it. Ties are broken by the source's index. So a tuple is
 * ready when (its position, its source) lies before (bound, index) of every other source, and the
 * sequence depends on what the sources add, never on when. A source that has not spoken is bounded
 * by the least position, and holds the merge.
 *
 * Where the readers of a gate claim its tuples, a tuple is delivered to one of them: whoever takes it first. What a
 * reader has taken lies behind all that it had taken before. Its frontier is the first tuple that nobody has claimed,
 * if it has nothing left of its last claim. src/claims.h says how.
 *
 * What is delivered are runs: stretches of one jumbo tuple. The positions are copied out; the
 * payload stays under its slot until vp_merge_release.
 */
#ifndef VIPER_MERGE_H
#define VIPER_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/gate.h"
#include "viper/position.h"

typedef struct vp_merge vp_merge;

/* Tuples [first, first + count) of the jumbo tuple in a slot of a source. */
typedef struct {
    uint32_t source, slot, first, count;
} vp_run;

/* A reader of a gate, which must outlive it; NULL if there is no memory. Begins behind what the reader
 * of that index before it released: what that one had taken of a jumbo tuple comes again, unless it was
 * buried. */
vp_merge *vp_merge_new(vp_gate *gate, uint32_t reader);
void vp_merge_free(vp_merge *merge);

/* Delivers up to `limit` ready tuples in up to `max_runs` runs: positions to `into`, runs to `runs`.
 * Returns the number of runs; fewer than could be ready where memory ran out, and VP_NO_MEMORY if
 * there was none for the first. */
int64_t vp_merge_take(vp_merge *merge, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs);

/* The tuples of the jumbo tuple that comes next which were not delivered as yet; 0 while none is ready. */
uint64_t vp_merge_next(vp_merge *merge);

/* Puts runs together, in place, so that there is one for each jumbo tuple, in the order of their first tuples.
 *
 * runs:  what vp_merge_take delivered, at most 65,536
 * last:  a word for each source of the gate, for this function alone, whatever it holds
 * order: gets for each tuple the index of its run among those that are left; the tuples of a run follow one another there
 *
 * Returns how many are left. */
uint32_t vp_runs_join(vp_run *runs, uint32_t made, uint32_t *last, uint16_t *order);

/* Says how many untracked tuples the reader was delivered and has not finished, which are lost if it dies now. What
 * vp_merge_take delivers is added to them. */
void vp_merge_working(vp_merge *merge, uint64_t untracked);

/* Says that of what was delivered since then so many are left, as some were put back. */
void vp_merge_delivered_since(vp_merge *merge, uint64_t untracked);

/* Gives the slots of all jumbo tuples that were delivered to the end back to their producers. */
void vp_merge_release(vp_merge *merge);

/* Puts the last `count` tuples of a source that were delivered and not released back: they are delivered once more.
 * Returns the slot of the jumbo tuple that the first of them is in. */
uint32_t vp_merge_put_back(vp_merge *merge, uint32_t source, uint64_t count);

/* Whether there is more of the reader's last claim to take. */
bool vp_merge_has_claim(const vp_merge *merge);

/* Whether a tuple is ready. */
bool vp_merge_ready(vp_merge *merge);

/* Whether all sources closed and everything was delivered. */
bool vp_merge_drained(vp_merge *merge);

/* The smallest position that can still be delivered; END when drained. */
vp_position vp_merge_frontier(vp_merge *merge);

/* The source without a waiting tuple that everything else waits for; -1 while a tuple is ready, and
 * when drained. */
int64_t vp_merge_holding(vp_merge *merge);

/* Tuples that were added and not delivered. */
uint64_t vp_merge_waiting(const vp_merge *merge);

/* How many tuples were delivered to the reader so far, and to those before it: the number of the next one in the merge. */
uint64_t vp_merge_delivered(const vp_merge *merge);

/* How far event time came at the source that says so and came furthest; INT64_MIN if none does. */
int64_t vp_merge_last_ts(const vp_merge *merge);

/* How far event time comes at most, as all sources say that it goes on no further than at one of them;
 * VP_TS_OF_PROGRESS while one says no such thing. */
int64_t vp_merge_until_ts(const vp_merge *merge);

/* How far a merge is, each of these as of one moment, and each later than the one before it: a source that
 * closes has said before how far its event time came. */
typedef struct {
    vp_position frontier;
    int64_t until_ts;
    bool ready;
} vp_outlook;

void vp_merge_outlook(vp_merge *merge, vp_outlook *outlook);

#endif
