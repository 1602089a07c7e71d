/* A source's side: claim, publish, promise.
 *
 * Order. W0: all nodes of a jumbo tuple are linked before `written` is released; a reader that acquires it
 *     (reader.c) then sees no list without them. C0: a reader is done with items before it releases their
 *     count; the source acquires it before it writes there again.
 */
#include "list.h"
#include "pool.h"
#include "run.h"

/* Copies positions that do not descend and end before END; false if they do not. */
static bool copy_ordered(sl_gate *gate, uint32_t source, const vp_position *positions, uint32_t count)
{
    const sl_source *own = sl_source_of(gate, source);
    vp_position before = own->floor;
    for (uint32_t i = 0; i < count; i++) {
        if (vp_compare(positions[i], before) < 0)
            return false;
        before = positions[i];
        *sl_position_of(gate, source, own->items + i) = before;
    }
    return vp_compare(before, VP_END) < 0;
}

static uint64_t delivered_to_all(const sl_gate *gate, uint32_t source)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < gate->reader_count; i++) {
        uint64_t items = atomic_load_explicit(&sl_done_of(gate, i, source)->items, memory_order_acquire); /* C0 */
        least = items < least ? items : least;
    }
    return least;
}

/* Frees slots and positions of what all readers are done with. */
static void look_at_readers(sl_gate *gate, uint32_t source)
{
    sl_source *own = sl_source_of(gate, source);
    uint64_t delivered = delivered_to_all(gate, source);
    if (delivered > own->items_taken)
        own->items_taken = delivered;
    while (own->slots_taken < own->slots) {
        const sl_slot *oldest = sl_slot_of(gate, source, own->slots_taken);
        if (oldest->first + oldest->count > own->items_taken)
            break;
        own->slots_taken++;
    }
}

static bool has_room(const sl_gate *gate, const sl_source *own, uint32_t count)
{
    return own->items + count - own->items_taken <= gate->tuple_count &&
           own->slots - own->slots_taken < gate->slot_count;
}

int64_t sl_source_claim(sl_gate *gate, uint32_t source, const vp_position *positions, uint32_t count)
{
    sl_source *own = sl_source_of(gate, source);
    if (count == 0 || count > gate->tuple_count)
        return SL_TOO_LARGE;
    if (!has_room(gate, own, count))
        look_at_readers(gate, source);
    /* One run's nodes stay back for a mark. */
    uint64_t nodes = SL_NODES_PER_RUN * ((uint64_t)count + 1);
    if (!has_room(gate, own, count) || !sl_pool_has_room(gate, source, nodes))
        return SL_FULL;
    if (!copy_ordered(gate, source, positions, count))
        return SL_UNORDERED;
    own->claimed = count;
    *sl_slot_of(gate, source, own->slots) = (sl_slot){own->items, count};
    return (int64_t)(own->slots & (gate->slot_count - 1));
}

/* Lets readers pass what was entered. */
static void publish(sl_source *own, vp_position floor)
{
    own->floor = floor;
    SL_STEP();
    atomic_store_explicit(&own->written, own->items, memory_order_release); /* W0 -> W1 */
}

void sl_source_publish(sl_gate *gate, uint32_t source)
{
    sl_source *own = sl_source_of(gate, source);
    sl_run_begin(gate, source);
    for (uint32_t left = own->claimed; left > 0;) {
        sl_key key = {*sl_position_of(gate, source, own->items), sl_tie(source, own->items)};
        uint32_t count = sl_run_enter(gate, source, key, left);
        own->items += count;
        left -= count;
    }
    sl_run_end(gate, source);
    own->slots++;
    publish(own, *sl_position_of(gate, source, own->items - 1));
}

bool sl_source_heartbeat(sl_gate *gate, uint32_t source, vp_position position)
{
    sl_source *own = sl_source_of(gate, source);
    if (vp_compare(position, own->floor) <= 0)
        return true;
    if (!sl_pool_has_room(gate, source, SL_NODES_PER_RUN))
        return false;
    sl_run_begin(gate, source);
    sl_run_enter(gate, source, (sl_key){position, sl_tie(source, own->items)}, 0);
    sl_run_end(gate, source);
    own->items++;
    publish(own, position);
    return true;
}

uint64_t sl_source_nodes(const sl_gate *gate, uint32_t source)
{
    return sl_pool_of(gate, source)->taken;
}
