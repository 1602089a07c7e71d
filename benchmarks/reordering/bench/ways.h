/* The ways that are compared. */
#ifndef REORDERING_WAYS_H
#define REORDERING_WAYS_H

#include "run.h"

enum { MOST_WAYS = 4 };

/* Of an operator without state, NULL behind the last: all workers claim the next inputs, and order is restored by the
 * reorder buffer, by the merge of the gate, by the same with a reader that promises for workers that rest, or by a lock
 * and a heap. */
extern const b_way *const stateless_ways[MOST_WAYS + 1];

/* Of an operator with state by partition: the hybrid queue, partitions that were dealt beforehand, or a lock for each
 * partition. */
extern const b_way *const keyed_ways[MOST_WAYS + 1];

#endif
