#include "hybrid.h"

/* Orders, by label; a release names its acquire:
 *
 *   M0 -> M1  The master queue's tail: the tuple lies in its partition's queue, and the partition in its place.
 *   H0 -> H1  The master queue's head: a place that was read may be filled anew.
 *   P0 -> P1  A partition's head: likewise.
 *   K0 -> K1  A partition's count. Whoever finds it at zero sees all that the owner before did. The owner that finds it
 *             above one sees the tuple that was delegated.
 */

static _Atomic uint64_t *places_of(ro_hybrid *queue)
{
    return (_Atomic uint64_t *)(queue->partitions + queue->partition_count);
}

_Atomic uint64_t *ro_hybrid_place(ro_hybrid *queue, uint64_t partition, uint64_t number)
{
    return places_of(queue) + partition * queue->room + (number & (queue->room - 1));
}

uint64_t ro_hybrid_size(uint64_t partition_count, uint64_t room)
{
    uint64_t places = (partition_count + 1) * room * sizeof(_Atomic uint64_t);
    return (sizeof(ro_hybrid) + partition_count * sizeof(ro_partition) + places + RO_APART - 1) / RO_APART * RO_APART;
}

ro_hybrid *ro_hybrid_format(void *memory, uint64_t partition_count, uint64_t room)
{
    ro_hybrid *made = memory;
    made->partition_count = partition_count;
    made->room = room;
    return made;
}

bool ro_hybrid_add(ro_hybrid *queue, uint64_t partition, uint64_t tuple)
{
    ro_partition *to = &queue->partitions[partition];
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);             /* its own */
    if (tail - atomic_load_explicit(&queue->head, memory_order_acquire) == queue->room || /* H1 <- H0 */
        to->tail - atomic_load_explicit(&to->head, memory_order_acquire) == queue->room)  /* P1 <- P0 */
        return false;
    atomic_store_explicit(ro_hybrid_place(queue, partition, to->tail++), tuple, memory_order_relaxed); /* by M0 */
    atomic_store_explicit(ro_hybrid_place(queue, queue->partition_count, tail), partition, memory_order_relaxed);
    atomic_store_explicit(&queue->tail, tail + 1, memory_order_release); /* M0 -> M1 */
    return true;
}

/* A place may be filled anew while it is read here; then the head has gone on, and what was read is dropped. */
static bool take(ro_hybrid *queue, uint64_t *partition)
{
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    do {
        if (head == atomic_load_explicit(&queue->tail, memory_order_acquire)) /* M1 <- M0 */
            return false;
        *partition = atomic_load_explicit(ro_hybrid_place(queue, queue->partition_count, head), memory_order_relaxed);
    } while (!atomic_compare_exchange_strong_explicit(&queue->head, &head, head + 1, memory_order_release, /* H0 -> H1 */
                                                      memory_order_relaxed));
    return true;
}

/* For the owner. */
static void work_on_next(ro_hybrid *queue, uint64_t partition, ro_work *work, void *context)
{
    ro_partition *owned = &queue->partitions[partition];
    uint64_t head = atomic_load_explicit(&owned->head, memory_order_relaxed); /* by K1 */
    uint64_t tuple = atomic_load_explicit(ro_hybrid_place(queue, partition, head), memory_order_relaxed);
    atomic_store_explicit(&owned->head, head + 1, memory_order_release); /* P0 -> P1 */
    work(context, partition, tuple);
}

bool ro_hybrid_consume(ro_hybrid *queue, ro_work *work, void *context)
{
    uint64_t partition;
    if (!take(queue, &partition))
        return false;
    _Atomic uint64_t *count = &queue->partitions[partition].count;
    if (atomic_fetch_add_explicit(count, 1, memory_order_acq_rel) > 0) /* K0, K1 */
        return true;
    do
        work_on_next(queue, partition, work, context);
    while (atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel) > 1); /* K0, K1 */
    return true;
}
