/* The producer's side of a ring. The consumer's side is reader.c; the words they share are in layout.h.
 *
 * Roles.       One producer, one consumer. The producer alone writes slots, positions and tail, the
 *              consumer alone writes head. Jumbo tuples [head, tail) belong to the consumer, all other
 *              slots to the producer.
 * Invariant.   tail - head <= slot_count. The positions of [head, tail) do not overlap: they lie within
 *              tuple_count numbers from the first position of jumbo `head`, which its slot names.
 * Order.       R0: a slot and its positions are written before the tail that covers them is released;
 *              the consumer acquires that tail (A0) before it reads them. R1: the consumer is done with
 *              a slot and its positions before it releases the head behind them; the producer acquires
 *              that head (A1) before it writes there again.
 * Contiguity.  A jumbo tuple's positions lie in one piece, so that they can be searched and copied at
 *              once. One that would cross the end of the store starts at the store's beginning, and the
 *              numbers skipped count as used until it is released. An empty ring has nothing to
 *              overlap with: there every jumbo tuple fits that is no larger than the store.
 * Wrap-around. Numbers are 64 bits and used modulo powers of two; they are compared by subtraction
 *              only. So passing 2^64 is like passing any other multiple.
 * ABA.         Nothing is compared and swapped.
 * Progress.    Every function is wait-free.
 */
#include "layout.h"
#include "order.h"
#include "progress.h"

static uint64_t power_of_two(uint32_t at_least)
{
    uint64_t power = 1;
    while (power < at_least)
        power *= 2;
    return power;
}

uint64_t vp_ring_size(uint32_t slots, uint32_t tuples)
{
    uint64_t bytes = sizeof(vp_ring) + power_of_two(slots) * sizeof(vp_slot);
    return bytes + power_of_two(tuples) * sizeof(vp_position);
}

vp_ring *vp_ring_format(void *region, uint32_t slots, uint32_t tuples)
{
    vp_ring *ring = region;
    ring->slot_count = power_of_two(slots);
    ring->tuple_count = power_of_two(tuples);
    ring->slots_at = sizeof(vp_ring);
    ring->positions_at = ring->slots_at + ring->slot_count * sizeof(vp_slot);
    ring->producer.floor = VP_LEAST;
    vp_progress_publish(&ring->progress, VP_LEAST);
    return ring;
}

uint32_t vp_ring_slots(const vp_ring *ring)
{
    return (uint32_t)ring->slot_count;
}

uint32_t vp_ring_tuples(const vp_ring *ring)
{
    return (uint32_t)ring->tuple_count;
}

vp_position vp_ring_floor(const vp_ring *ring)
{
    return ring->producer.floor;
}

/* The number of the first of `count` positions that lie in one piece. */
static uint64_t first_number(const vp_ring *ring, uint32_t count)
{
    uint64_t next = ring->producer.next;
    uint64_t to_the_end = ring->tuple_count - (next & (ring->tuple_count - 1));
    return count <= to_the_end ? next : next + to_the_end;
}

/* Whether a jumbo tuple with positions [first, first + count) overlaps with none of [head, tail). */
static bool is_free(const vp_ring *ring, uint64_t head, uint64_t tail, uint64_t first, uint32_t count)
{
    if (head == tail)
        return true;
    if (tail - head == ring->slot_count)
        return false;
    return first + count - vp_ring_slot(ring, head)->first <= ring->tuple_count;
}

static bool has_room(vp_ring *ring, uint64_t tail, uint64_t first, uint32_t count)
{
    vp_producer_words *own = &ring->producer;
    if (is_free(ring, own->head_seen, tail, first, count))
        return true;
    /* An old head only makes the ring look fuller, so the consumer's line is fetched when it matters. */
    own->head_seen = atomic_load_explicit(&ring->consumer.head, memory_order_acquire); /* A1 <- R1 */
    return is_free(ring, own->head_seen, tail, first, count);
}

bool vp_ring_room(vp_ring *ring, uint32_t count)
{
    /* Relaxed: the producer's own word. */
    uint64_t tail = atomic_load_explicit(&ring->producer.tail, memory_order_relaxed);
    return count <= ring->tuple_count && has_room(ring, tail, first_number(ring, count), count);
}

/* Copies positions that do not descend; returns 0, or why not. */
static int copy_ordered(vp_position *to, const vp_position *from, uint32_t count)
{
    to[0] = from[0];
    for (uint32_t i = 1; i < count; i++) {
        if (vp_compare(from[i], from[i - 1]) < 0)
            return VP_UNORDERED;
        to[i] = from[i];
    }
    return vp_compare(from[count - 1], VP_END) == 0 ? VP_BEYOND_END : 0;
}

int64_t vp_ring_claim(vp_ring *ring, const vp_positions *positions, uint64_t first, uint32_t count)
{
    if (first > positions->length || count > positions->length - first)
        return VP_OUT_OF_BOUNDS;
    if (count == 0)
        return VP_EMPTY;
    if (count > ring->tuple_count)
        return VP_TOO_LARGE;
    vp_producer_words *own = &ring->producer;
    /* Before the room, so that a broken promise is never taken for a full ring. */
    if (vp_compare(positions->data[first], own->floor) < 0)
        return VP_UNORDERED;
    /* Relaxed, both words: the producer's own. */
    uint64_t tail = atomic_load_explicit(&own->tail, memory_order_relaxed);
    uint64_t number = first_number(ring, count);
    if (!has_room(ring, tail, number, count)) {
        uint64_t refused = atomic_load_explicit(&own->refused, memory_order_relaxed);
        atomic_store_explicit(&own->refused, refused + 1, memory_order_relaxed);
        return VP_FULL;
    }
    int fault = copy_ordered(vp_ring_position(ring, number), positions->data + first, count);
    if (fault)
        return fault;
    *vp_ring_slot(ring, tail) = (vp_slot){.first = number, .count = count};
    return (int64_t)(tail & (ring->slot_count - 1));
}

void vp_ring_publish(vp_ring *ring)
{
    vp_producer_words *own = &ring->producer;
    /* Relaxed, both loads: the producer's own words. */
    uint64_t tail = atomic_load_explicit(&own->tail, memory_order_relaxed);
    uint64_t tuples = atomic_load_explicit(&own->tuples, memory_order_relaxed);
    const vp_slot *slot = vp_ring_slot(ring, tail);
    own->next = slot->first + slot->count;
    own->floor = *vp_ring_position(ring, own->next - 1);
    /* Relaxed: a count for statistics, which nothing else depends on. */
    atomic_store_explicit(&own->tuples, tuples + slot->count, memory_order_relaxed);
    atomic_store_explicit(&own->tail, tail + 1, memory_order_release); /* R0 -> A0 */
}

void vp_ring_heartbeat(vp_ring *const *rings, uint32_t count, vp_position position)
{
    for (uint32_t i = 0; i < count; i++) {
        if (vp_compare(position, rings[i]->producer.floor) <= 0)
            continue;
        rings[i]->producer.floor = position;
        vp_progress_publish(&rings[i]->progress, position); /* behind R0: see reader.c */
    }
}

vp_ring_counts vp_ring_statistics(const vp_ring *ring)
{
    /* Relaxed: each count is right by itself; taken together they may be of slightly different moments. */
    return (vp_ring_counts){
        .added_jumbos = atomic_load_explicit(&ring->producer.tail, memory_order_relaxed),
        .added_tuples = atomic_load_explicit(&ring->producer.tuples, memory_order_relaxed),
        .refused = atomic_load_explicit(&ring->producer.refused, memory_order_relaxed),
        .released_jumbos = atomic_load_explicit(&ring->consumer.head, memory_order_relaxed),
    };
}
