/* The hybrid queue of "Scaling Ordered Stream Processing on Shared-Memory Multicores" (figure 7).
 *
 * Tuples wait in the queue of their partition; the master queue says in which order partitions got them. A worker takes
 * the next partition from the master queue and counts it. If nobody works on that partition, the worker owns it until
 * the count is back at zero. Else it has delegated the tuple to the owner, and takes the next. So the tuples of a
 * partition are worked on one at a time and in order, and nobody waits.
 */
#ifndef REORDERING_HYBRID_H
#define REORDERING_HYBRID_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { RO_APART = 128 }; /* words that different threads write are so many bytes apart */

typedef struct {
    alignas(RO_APART) _Atomic uint64_t count; /* tuples that were taken from the master queue and are not done */
    alignas(RO_APART) _Atomic uint64_t head;  /* tuples that owners took */
    alignas(RO_APART) uint64_t tail;          /* of the producer alone */
} ro_partition;

typedef struct {
    uint64_t partition_count, room; /* room: of each queue, a power of two */
    alignas(RO_APART) _Atomic uint64_t head;
    alignas(RO_APART) _Atomic uint64_t tail;
    ro_partition partitions[]; /* and behind them the master queue's places, and those of each partition */
} ro_hybrid;

typedef void ro_work(void *context, uint64_t partition, uint64_t tuple);

uint64_t ro_hybrid_size(uint64_t partition_count, uint64_t room);

/* Makes an empty queue of zeroed memory, which is aligned to RO_APART. */
ro_hybrid *ro_hybrid_format(void *memory, uint64_t partition_count, uint64_t room);

/* The place of a partition's tuple of a number, or, at partition_count, of the master queue's. */
_Atomic uint64_t *ro_hybrid_place(ro_hybrid *queue, uint64_t partition, uint64_t number);

/* Adds a tuple; false if a queue is full. For one producer at a time. */
bool ro_hybrid_add(ro_hybrid *queue, uint64_t partition, uint64_t tuple);

/* Takes the next partition, and works on its tuples if nobody else does. False if the master queue was empty. */
bool ro_hybrid_consume(ro_hybrid *queue, ro_work *work, void *context);

#endif
