/* The producer's side of a ring. The readers' side is reader.c; the words they share are in layout.h.
 *
 * Roles.       One producer, any number of readers. The producer alone writes slots, positions, bytes and
 *              tail, each reader alone its head. Jumbo tuples [slowest head, tail) belong to the readers,
 *              which only read them; all other slots to the producer.
 * Invariant.   tail - head <= slot_count for every head. The positions of [slowest head, tail) do not
 *              overlap: they lie within tuple_count numbers from the first position of jumbo `slowest
 *              head`, which its slot names. The same holds for their bytes.
 * Order.       R0: a slot, its positions and its bytes are written before the tail that covers them is
 *              released; a reader acquires that tail (A0) before it reads them. R1: a reader is done with
 *              a slot before it releases its head behind it; the producer acquires all heads (A1) before
 *              it writes there again. There is one such pair of R1 and A1 for each reader, and the
 *              slowest reader's is the one that counts.
 * Wanting.     A source that finds the ring full says so in `wanting` and looks at the heads again; a
 *              reader that releases looks at `wanting` behind that. D0 (wanting), D1 (heads), D2 (head) and
 *              D3 (wanting) are seq_cst: in their one order either D0 stands before D3 and the reader
 *              rings, or D2 before D1 and the source finds the room. With release and acquire both could
 *              miss the other's word, and the source would sleep beside an empty ring.
 * Contiguity.  A jumbo tuple's positions lie in one piece, so that they can be searched and copied at
 *              once, and so do its bytes. What would cross the end of a store starts at the store's
 *              beginning, and the numbers skipped count as used until it is released. An empty ring has
 *              nothing to overlap with: there every jumbo tuple fits that is no larger than the stores, and
 *              it starts at the beginning, where the cache is warm.
 * Lines.       Positions that lie on a line (line.h) are written as such, in some bits each, where the gate has no other
 *              source: only a merge looks at each. The first and the last one stand in the first and the
 *              last cell all the same, as a bound and a successor's floor.
 * Wrap-around. Numbers are 64 bits and used modulo powers of two; they are compared by subtraction
 *              only. So passing 2^64 is like passing any other multiple.
 * ABA.         Nothing is compared and swapped.
 * Death.       See recover.c.
 * Progress.    Every function is wait-free.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, in blocked.h */

#include <string.h>

#include "blocked.h"
#include "crash.h"
#include "layout.h"
#include "line.h"
#include "note.h"
#include "order.h"
#include "waking.h"

uint32_t vp_ring_slots(const vp_ring *ring)
{
    return (uint32_t)ring->slot_count;
}

uint32_t vp_ring_tuples(const vp_ring *ring)
{
    return (uint32_t)ring->tuple_count;
}

uint64_t vp_ring_payload_bytes(const vp_ring *ring)
{
    return ring->byte_count;
}

vp_position vp_ring_floor(const vp_ring *ring)
{
    return vp_note_floor(&ring->producer);
}

/* The number of the first of `count` cells that lie in one piece of a store. */
static uint64_t first_number(uint64_t next, uint64_t size, uint64_t count, bool empty)
{
    uint64_t to_the_end = size - (next & (size - 1));
    bool at_the_beginning = to_the_end == size;
    return at_the_beginning || (!empty && count <= to_the_end) ? next : next + to_the_end;
}

/* Where a jumbo tuple of that size would lie next to [slowest head, tail); false if there is no room. */
static bool find_place(const vp_ring *ring, uint64_t tail, uint64_t count, uint64_t bytes, vp_slot *place)
{
    uint64_t head = vp_ring_slowest(ring, tail), taken = vp_ring_bytes_taken(bytes);
    place->first = first_number(ring->producer.next, ring->tuple_count, count, head == tail);
    place->first_byte = 0;
    if (ring->byte_count)
        place->first_byte = first_number(ring->producer.next_byte, ring->byte_count, taken, head == tail);
    if (head == tail)
        return true;
    if (tail - head == ring->slot_count)
        return false;
    const vp_slot *oldest = vp_ring_slot(ring, head);
    return place->first + count - oldest->first <= ring->tuple_count &&
           place->first_byte + taken - oldest->first_byte <= ring->byte_count;
}

static bool find_place_or_want(vp_ring *ring, uint64_t tail, uint64_t count, uint64_t bytes, vp_slot *place)
{
    if (find_place(ring, tail, count, bytes, place))
        return true;
    VP_CRASH_POINT("claim: full");
    atomic_store_explicit(&ring->room.wanting, 1, memory_order_seq_cst); /* D0 */
    VP_CRASH_POINT("claim: wanting");
    if (!find_place(ring, tail, count, bytes, place)) /* D1 */
        return false;
    /* Relaxed: D0 comes behind it when room is wanted again. Left set, it would have the next release ring. */
    atomic_store_explicit(&ring->room.wanting, 0, memory_order_relaxed);
    return true;
}

bool vp_ring_room(vp_ring *ring, uint64_t count, uint64_t payload_bytes)
{
    /* Relaxed: the producer's own word. */
    uint64_t tail = atomic_load_explicit(&ring->producer.tail, memory_order_relaxed);
    vp_slot place;
    return count <= ring->tuple_count && payload_bytes <= ring->byte_count &&
           find_place_or_want(ring, tail, count, payload_bytes, &place);
}

/* Relaxed, here and in the next: counts, which nothing else depends on, and which nobody else writes. */
static void add_to(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

static int refuse(vp_producer_words *own)
{
    add_to(&own->refused, 1);
    vp_blocked_begin(own);
    return VP_FULL;
}

/* Why a jumbo tuple can never be taken, or 0. */
static int check(const vp_ring *ring, const vp_positions *positions, uint64_t first, uint64_t count, uint64_t bytes)
{
    if (first > positions->length || count > positions->length - first)
        return VP_OUT_OF_BOUNDS;
    if (count == 0)
        return VP_EMPTY;
    if (count > ring->tuple_count)
        return VP_TOO_LARGE;
    if (bytes > ring->byte_count)
        return VP_PAYLOAD_TOO_LARGE;
    return vp_compare(vp_positions_at(positions, first), vp_note_floor(&ring->producer)) < 0 ? VP_UNORDERED : 0;
}

static int admit(vp_ring *ring, const vp_positions *positions, uint64_t first, uint64_t count, uint64_t bytes,
                 vp_slot *place)
{
    /* Before the room, so that a broken promise is never taken for a full ring. */
    int fault = check(ring, positions, first, count, bytes);
    if (fault)
        return fault;
    /* Relaxed: the producer's own word. */
    uint64_t tail = atomic_load_explicit(&ring->producer.tail, memory_order_relaxed);
    return find_place_or_want(ring, tail, count, bytes, place) ? 0 : refuse(&ring->producer);
}

int vp_ring_admit(vp_ring *ring, const vp_positions *positions, uint64_t first, uint64_t count, uint64_t payload_bytes)
{
    vp_slot place;
    return admit(ring, positions, first, count, payload_bytes, &place);
}

/* Copies positions that do not descend; returns 0, or why not. */
static int copy_ordered(vp_position *to, const vp_position *from, uint64_t count)
{
    to[0] = from[0];
    for (uint64_t i = 1; i < count; i++) {
        if (vp_compare(from[i], from[i - 1]) < 0)
            return VP_UNORDERED;
        to[i] = from[i];
    }
    return vp_compare(from[count - 1], VP_END) == 0 ? VP_BEYOND_END : 0;
}

/* Writes the positions of a jumbo tuple into its cells: as a line where they lie on one, it takes no more room, and there
 * are no other sources whose tuples could come in between. Returns 0, or why not. */
static int place_positions(vp_ring *ring, vp_slot *slot, const vp_positions *positions, uint64_t first)
{
    vp_position *cells = vp_ring_position(ring, slot->first);
    if (!vp_positions_on_line(positions))
        return copy_ordered(cells, positions->data + first, slot->count);
    const vp_places part = vp_places_part(&positions->places, positions->length, first, slot->count);
    const vp_gate *gate = vp_ring_gate(ring);
    const bool may_be = slot->count >= VP_LEAST_ON_LINE && gate->source_count == 1 && !gate->claims;
    slot->on_line = may_be && vp_places_pack(&part, slot->count, cells);
    if (!slot->on_line)
        vp_places_write(&part, slot->count, cells);
    return vp_compare(cells[slot->count - 1], VP_END) == 0 ? VP_BEYOND_END : 0;
}

int64_t vp_ring_claim(vp_ring *ring, const vp_positions *positions, uint64_t first, uint64_t count,
                      uint64_t payload_bytes)
{
    vp_producer_words *own = &ring->producer;
    vp_slot place = {.bytes = payload_bytes, .count = (uint32_t)count};
    own->claimed = 0; /* from here on the positions of the claim before, if any, are written over */
    int fault = admit(ring, positions, first, count, payload_bytes, &place);
    if (fault)
        return fault;
    fault = place_positions(ring, &place, positions, first);
    if (fault)
        return fault;
    VP_CRASH_POINT("claim: copied");
    /* Relaxed, both: the producer's own words. */
    uint64_t tail = atomic_load_explicit(&own->tail, memory_order_relaxed);
    place.before = atomic_load_explicit(&own->tuples, memory_order_relaxed);
    *vp_ring_slot(ring, tail) = place;
    own->claimed = 1;
    return (int64_t)(tail & (ring->slot_count - 1));
}

void *vp_ring_payload(vp_ring *ring, uint32_t slot, uint64_t *bytes)
{
    const vp_slot *header = vp_ring_slot(ring, slot);
    if (bytes)
        *bytes = header->bytes;
    return (char *)ring + ring->bytes_at + (header->bytes ? header->first_byte & (ring->byte_count - 1) : 0);
}

uint64_t vp_ring_before(const vp_ring *ring, uint32_t slot)
{
    return vp_ring_slot(ring, slot)->before;
}

void vp_ring_write(vp_ring *ring, uint32_t slot, const void *payload)
{
    uint64_t bytes;
    void *to = vp_ring_payload(ring, slot, &bytes);
    memcpy(to, payload, bytes);
}

void vp_ring_mark(vp_ring *ring, uint32_t slot, uint64_t mark)
{
    vp_slot *header = vp_ring_slot(ring, slot);
    const vp_position last = *vp_ring_position(ring, header->first + header->count - 1);
    header->mark = mark;
    header->ts = last.ts;
    header->hi = last.hi;
    header->lo = last.lo;
}

static void account(vp_producer_words *own, const vp_slot *slot)
{
    add_to(&own->tuples, slot->count);
    add_to(&own->bytes, slot->bytes);
    vp_blocked_end(own);
}

bool vp_ring_publish(vp_ring *ring)
{
    vp_producer_words *own = &ring->producer;
    if (!own->claimed)
        return false;
    own->claimed = 0;
    /* Relaxed: the producer's own word. */
    uint64_t tail = atomic_load_explicit(&own->tail, memory_order_relaxed);
    const vp_slot *slot = vp_ring_slot(ring, tail);
    own->next = slot->first + slot->count;
    own->next_byte = slot->first_byte + vp_ring_bytes_taken(slot->bytes);
    account(own, slot);
    VP_CRASH_POINT("publish: not yet");
    atomic_store_explicit(&own->tail, tail + 1, memory_order_release); /* R0 -> A0 */
    VP_CRASH_POINT("publish: published");
    vp_note_write(own, *vp_ring_position(ring, own->next - 1)); /* behind tail: see recover.c */
    VP_CRASH_POINT("publish: noted");
    vp_wake_readers(ring);
    return true;
}
