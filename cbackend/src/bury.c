/* What is left by readers that died, set right for their successors.
 *
 * A reader's successor goes on behind the last tuple that the dead one was delivered: one that comes twice
 * would have outputs below what is promised. `delivered` says which that is. It is stored behind every
 * stretch that is taken, and counts all tuples of the ring before it; a slot says how many those before its
 * own are. Died between taking and the store, the stretch was seen by nobody, and comes again.
 *
 * Order.   Whoever noticed a death has seen all that the dead one wrote, so its words are read relaxed. The
 *          producer may be alive: tail is acquired (A0), and the head is released as its reader would (R1, D2).
 * Again.   Everything is computed from delivered, which the dead one wrote, or its successor: who dies here
 *          leaves nothing that a second call does not set right.
 */
#include "layout.h"
#include "order.h"
#include "reader.h"
#include "untracked.h"

/* Tuples of a slot that so many delivered ones cover; all of them, or some of the first. */
static uint32_t covered(const vp_slot *slot, uint64_t delivered)
{
    uint64_t behind = delivered - slot->before;
    if (behind > INT64_MAX) /* the slot lies further on */
        return 0;
    return behind < slot->count ? (uint32_t)behind : slot->count;
}

static void bury_at(vp_ring *ring, uint32_t reader)
{
    vp_head *own = vp_ring_head(ring, reader);
    uint64_t tail = atomic_load_explicit(&ring->producer.tail, memory_order_acquire); /* A0 <- R0 */
    /* Relaxed, here and below: see above. */
    uint64_t delivered = atomic_load_explicit(&own->delivered, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&own->head, memory_order_relaxed), first = head;
    while (head != tail && covered(vp_ring_slot(ring, head), delivered) == vp_ring_slot(ring, head)->count)
        head++;
    uint32_t taken = head != tail ? covered(vp_ring_slot(ring, head), delivered) : 0;
    atomic_store_explicit(&own->taken, taken, memory_order_relaxed);
    if (head != first)
        vp_head_release(ring, own, head);
}

uint64_t vp_gate_bury_reader(vp_gate *gate, uint32_t reader)
{
    /* A claimant's successor leaves out what is not its own by the numbers of tuples, from the first that was not
     * released on. A source may stand further on there than another. Numbers are too high then, but lower than those of
     * all tuples that have not been seen: whatever was released had been. */
    for (uint32_t source = 0; source < gate->source_count && !gate->claims; source++)
        bury_at(vp_gate_ring_at(gate, source), reader);
    _Atomic uint64_t *working = &gate->readers[reader].working;
    uint64_t lost = atomic_load_explicit(working, memory_order_relaxed);
    atomic_store_explicit(working, 0, memory_order_relaxed);
    return lost;
}

static uint64_t untracked_at(const vp_ring *ring, uint64_t number, uint32_t skipped)
{
    const vp_slot *slot = vp_ring_slot(ring, number);
    if (slot->on_line)
        return slot->count - skipped;
    const vp_position *positions = vp_ring_position(ring, slot->first);
    return vp_untracked(positions + skipped, slot->count - skipped);
}

/* Nobody else is at this ring: its producer and all its readers are dead, so no order is needed, and nobody
 * has to be woken. */
uint64_t vp_ring_drop(vp_ring *ring, uint32_t reader)
{
    vp_head *own = vp_ring_head(ring, reader);
    uint64_t tail = atomic_load_explicit(&ring->producer.tail, memory_order_relaxed), lost = 0;
    uint64_t skipped = atomic_load_explicit(&own->taken, memory_order_relaxed);
    for (uint64_t head = atomic_load_explicit(&own->head, memory_order_relaxed); head != tail; head++) {
        lost += untracked_at(ring, head, (uint32_t)skipped);
        skipped = 0;
    }
    uint64_t added = atomic_load_explicit(&ring->producer.tuples, memory_order_relaxed);
    atomic_store_explicit(&own->delivered, added, memory_order_relaxed);
    atomic_store_explicit(&own->taken, 0, memory_order_relaxed);
    atomic_store_explicit(&own->head, tail, memory_order_relaxed);
    return lost;
}

int64_t vp_positions_raise(vp_positions *positions, vp_position floor)
{
    uint64_t raised = 0;
    if (!positions->length || vp_compare(vp_positions_at(positions, 0), floor) >= 0)
        return 0;
    if (vp_positions_apart(positions))
        return VP_NO_MEMORY;
    for (; raised < positions->length && vp_compare(positions->data[raised], floor) < 0; raised++) {
        positions->data[raised].ts = floor.ts;
        positions->data[raised].hi = floor.hi;
        positions->data[raised].lo = floor.lo;
    }
    return (int64_t)raised;
}
