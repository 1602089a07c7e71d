/* ScaleGate as a shared skip list: the sources sort, the readers walk.
 *
 * All nodes lie in one list in the total order (position, source, number of the item at its source).
 * A node holds a run: consecutive tuples of one jumbo tuple, with nothing of other sources between
 * them. A jumbo tuple is cut only where it has to be: the source that adds it cuts it at the tuples
 * of others that it finds in its way, and cuts a run of another source that it has to get into. So
 * jumbo tuples that do not overlap cost one node each, and those that do cost at most two nodes for
 * every run of the result.
 *
 * A reader stands on a node, all of whose tuples are ready, and steps to the next once the node is no
 * longer its source's last. For then every source's last lies behind it, and with it everything that
 * any source will add. A source begins with a mark, a node without tuples, at the least position;
 * further marks say how far it is (heartbeats), and one at the END closes it.
 *
 * Everything lies in one region, which may be mapped at several addresses. Each source is used by one
 * thread of execution at a time, and so is each reader; payloads stay with the caller, under the slot.
 */
#ifndef SCALEGATE_SKIPLIST_H
#define SCALEGATE_SKIPLIST_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/merge.h" /* vp_run */
#include "viper/position.h"

typedef struct sl_gate sl_gate;
typedef struct sl_reader sl_reader;

typedef struct {
    uint32_t sources, readers;
    uint32_t slots, tuples; /* per source; rounded up to powers of two */
} sl_size;

/* Why a jumbo tuple was not taken. */
enum {
    SL_FULL = -1,      /* later, when the slowest reader has released more */
    SL_TOO_LARGE = -2, /* never: the source has not that much room; or it is empty */
    SL_UNORDERED = -3  /* a position lies below the one before it, below the floor, or at the END */
};

uint64_t sl_gate_size(sl_size size);

/* Makes a gate out of zeroed memory that is aligned to 128 bytes. */
sl_gate *sl_gate_format(void *region, sl_size size);

/* Copies the positions of a jumbo tuple; returns its slot, or why not. Nobody sees it before
 * sl_source_publish, and the next claim replaces it. */
int64_t sl_source_claim(sl_gate *gate, uint32_t source, const vp_position *positions, uint32_t count);
void sl_source_publish(sl_gate *gate, uint32_t source);

/* Promises that nothing below `position` will come from the source; END closes it. False if there
 * is no node left: then readers have yet to pass or release what the source added before, so none of
 * them waits for this; say it again later. */
bool sl_source_heartbeat(sl_gate *gate, uint32_t source, vp_position position);

/* How many nodes the source has used so far. */
uint64_t sl_source_nodes(const sl_gate *gate, uint32_t source);

/* Each index below `readers` once. NULL if there is no memory. */
sl_reader *sl_reader_new(sl_gate *gate, uint32_t index);
void sl_reader_free(sl_reader *reader);

/* Delivers up to `limit` ready tuples in up to `max_runs` runs: positions to `into`, runs to `runs`.
 * Returns the number of runs, or -1 where there was no memory for the first. */
int64_t sl_reader_take(sl_reader *reader, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs);

/* Gives back what was delivered and passed; a reader must do so before it waits. */
void sl_reader_release(sl_reader *reader);

/* Whether all sources closed and everything was delivered. */
bool sl_reader_drained(const sl_reader *reader);

/* The source whose last node the reader stands on. It holds the reader back if nothing is ready. */
uint32_t sl_reader_standing_on(const sl_reader *reader);

#endif
