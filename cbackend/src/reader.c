/* A reader's side of a ring; ring.c has the roles, the invariant and the orders R0, R1 and D0 to D3.
 *
 * A bound must never be too large: it lets other sources' tuples pass. What a refresh finds is right
 * because it reads progress first and tail second. Let the progress read be p. The producer stored it
 * (R2) behind all it had published till then (R0, earlier in its program), so with A2 the reader's
 * later look at tail covers all of that. If the ring is empty by that look, everything added before p
 * was published has been taken; everything after is at p or above. Read the other way round, a tuple
 * below p could be published between the two looks, and the empty ring with the bound p would let
 * others pass it. An old progress, kept because the word was just being written, is only smaller.
 *
 * Death. All that a reader has in the ring is its head and counts. Whoever takes its place begins at the
 * head, so a jumbo tuple that was taken in part comes again from its first tuple; unless the dead one was
 * buried (bury.c), then from the first that it had not taken.
 *
 * Progress: every function is wait-free.
 */
#include "reader.h"

#include "crash.h"
#include "line.h"
#include "order.h"
#include "progress.h"
#include "waking.h"

vp_reader vp_reader_of(vp_ring *ring, uint32_t index)
{
    vp_head *own = vp_ring_head(ring, index);
    /* Relaxed, but for tail: the reader's own words. */
    uint64_t head = atomic_load_explicit(&own->head, memory_order_relaxed);
    uint64_t taken = atomic_load_explicit(&own->taken, memory_order_relaxed);
    /* Acquire: the slot at head is the producer's until tail covers it. Where it does not, all that was
     * published has been delivered, and the count is right as it is. */
    if (head != atomic_load_explicit(&ring->producer.tail, memory_order_acquire)) /* A0 <- R0 */
        atomic_store_explicit(&own->delivered, vp_ring_slot(ring, head)->before + taken, memory_order_relaxed);
    atomic_store_explicit(&own->taken, 0, memory_order_relaxed); /* it is in delivered, for who comes next */
    return (vp_reader){.ring = ring, .own = own, .slot = head, .published = head, .released = head,
                       .taken = (uint32_t)taken, .bound = VP_LEAST};
}

/* The position of a tuple of the jumbo tuple that a reader stands in. */
static vp_position position_at(const vp_reader *reader, uint32_t index)
{
    const vp_slot *slot = vp_ring_slot(reader->ring, reader->slot);
    const vp_position *cells = vp_ring_position(reader->ring, slot->first);
    if (!slot->on_line)
        return cells[index];
    const vp_places places = vp_places_packed(cells);
    const vp_walk walk = vp_walk_from(&places, slot->count, index);
    return vp_walk_place(&walk);
}

bool vp_reader_refresh(vp_reader *reader)
{
    vp_position progress = reader->bound;
    vp_progress_read(&reader->ring->progress, &progress); /* A2, before tail: see above */
    reader->published = atomic_load_explicit(&reader->ring->producer.tail, memory_order_acquire); /* A0 <- R0 */
    if (vp_reader_has_tuple(reader)) {
        reader->bound = position_at(reader, reader->taken);
        return true;
    }
    if (vp_compare(progress, reader->bound) <= 0)
        return false;
    reader->bound = progress;
    return true;
}

const vp_position *vp_reader_positions(const vp_reader *reader, uint32_t *count)
{
    const vp_slot *slot = vp_ring_slot(reader->ring, reader->slot);
    *count = slot->count - reader->taken;
    return vp_ring_position(reader->ring, slot->first) + reader->taken;
}

void vp_reader_advance(vp_reader *reader, uint32_t count)
{
    uint32_t taken = reader->taken + count, all = vp_ring_slot(reader->ring, reader->slot)->count;
    if (taken < all) {
        reader->taken = taken;
        reader->bound = position_at(reader, taken);
        return;
    }
    vp_position last = position_at(reader, all - 1);
    reader->slot++;
    reader->taken = 0;
    reader->bound = last;
    if (vp_reader_has_tuple(reader))
        reader->bound = position_at(reader, 0);
    else
        vp_reader_refresh(reader);
}

void vp_reader_go_back(vp_reader *reader, uint64_t delivered)
{
    while (!vp_reader_has_tuple(reader) || vp_ring_slot(reader->ring, reader->slot)->before > delivered)
        reader->slot--;
    reader->taken = (uint32_t)(delivered - vp_ring_slot(reader->ring, reader->slot)->before);
    reader->bound = position_at(reader, reader->taken);
}

void vp_reader_release(vp_reader *reader)
{
    if (reader->released == reader->slot)
        return;
    reader->released = reader->slot;
    vp_head_release(reader->ring, reader->own, reader->slot);
}

void vp_head_release(vp_ring *ring, vp_head *own, uint64_t head)
{
    VP_CRASH_POINT("release: not yet");
    atomic_store_explicit(&own->head, head, memory_order_seq_cst); /* R1 -> A1, D2 */
    VP_CRASH_POINT("release: released");
    _Atomic uint32_t *wanting = &ring->room.wanting;
    if (!atomic_load_explicit(wanting, memory_order_seq_cst)) /* D3 */
        return;
    /* Before the ring: a source that wants again has a ticket from before it. */
    atomic_store_explicit(wanting, 0, memory_order_seq_cst);
    VP_CRASH_POINT("release: not rung");
    vp_wake_source(ring);
}
