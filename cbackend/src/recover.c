/* What is left by a producer that died anywhere, set right for a successor.
 *
 * What readers see needs no repair: a tail covers only what was whole before it, and a torn progress is
 * not read. Left are the producer's own words. The latest note is whole (note.h), and it is written last
 * in both things that a producer does, so at most one of two is newer than it:
 *
 *   died in publish: tail is one ahead of the note. Nothing was claimed since, so the slot and the
 *       positions of that jumbo tuple are as published.
 *   died in heartbeat: progress is whole and above the note's floor; or torn, then nobody read it, and
 *       the note has the promise before it.
 *
 * A torn progress also hides the promise before it from readers that had not looked. So it is published
 * anew.
 */
#include "layout.h"
#include "note.h"
#include "order.h"
#include "progress.h"
#include "waking.h"

static vp_position later_of(vp_position a, vp_position b)
{
    return vp_compare(a, b) < 0 ? b : a;
}

/* What was published behind the latest note, if anything: counts it, and returns the floor then. */
static vp_position recover_published(vp_ring *ring, uint64_t tail)
{
    vp_producer_words *own = &ring->producer;
    const vp_note *note = vp_note_latest(own);
    vp_position floor = vp_note_floor(own);
    /* Relaxed, here and below: whoever noticed the death of the one writer has seen all it wrote. */
    uint64_t tuples = atomic_load_explicit(&note->tuples, memory_order_relaxed);
    uint64_t bytes = atomic_load_explicit(&note->bytes, memory_order_relaxed);
    if (atomic_load_explicit(&note->tail, memory_order_relaxed) != tail) {
        const vp_slot *last = vp_ring_slot(ring, tail - 1);
        floor = later_of(floor, *vp_ring_position(ring, last->first + last->count - 1));
        tuples += last->count;
        bytes += last->bytes;
    }
    atomic_store_explicit(&own->tuples, tuples, memory_order_relaxed);
    atomic_store_explicit(&own->bytes, bytes, memory_order_relaxed);
    return floor;
}

/* The last jumbo tuple is untouched while a reader has not released it. If all have, the ring is empty,
 * and the next one may lie anywhere. */
static void recover_numbers(vp_ring *ring, uint64_t tail)
{
    vp_producer_words *own = &ring->producer;
    const vp_slot *last = vp_ring_slot(ring, tail - 1);
    bool empty = vp_ring_slowest(ring, tail) == tail;
    own->next = empty ? 0 : last->first + last->count;
    own->next_byte = empty ? 0 : last->first_byte + vp_ring_bytes_taken(last->bytes);
    own->claimed = 0;
}

void vp_ring_recover(vp_ring *ring)
{
    uint64_t tail = atomic_load_explicit(&ring->producer.tail, memory_order_relaxed);
    vp_position floor = recover_published(ring, tail), progress = VP_LEAST;
    vp_progress_read(&ring->progress, &progress);
    floor = later_of(floor, progress);
    recover_numbers(ring, tail);
    vp_note_write(&ring->producer, floor); /* first, for who dies in the next line has nothing else */
    vp_progress_publish(&ring->progress, floor);
    vp_wake_readers(ring);
}

vp_last vp_ring_last(const vp_ring *ring)
{
    /* Relaxed: the producer's own word. */
    uint64_t tail = atomic_load_explicit(&ring->producer.tail, memory_order_relaxed);
    bool is_there = vp_ring_slowest(ring, tail) != tail;
    const vp_slot *last = vp_ring_slot(ring, tail - 1);
    /* With a single slot, a claim of the dead one may have written over it. */
    bool is_known = tail && (is_there || ring->slot_count > 1);
    return (vp_last){
        .slot = (uint32_t)((tail - 1) & (ring->slot_count - 1)),
        .is_there = is_there,
        .mark = is_known ? last->mark : 0,
        .position = {last->ts, last->hi, last->lo, 0},
    };
}

bool vp_ring_find(const vp_ring *ring, uint64_t number, uint32_t *slot, uint32_t *index)
{
    uint64_t tail = atomic_load_explicit(&ring->producer.tail, memory_order_acquire); /* A0 <- R0 */
    for (uint64_t at = vp_ring_slowest(ring, tail); at != tail; at++) {
        const vp_slot *found = vp_ring_slot(ring, at);
        if (number - found->before >= found->count)
            continue;
        *slot = (uint32_t)(at & (ring->slot_count - 1));
        *index = (uint32_t)(number - found->before);
        return true;
    }
    return false;
}
