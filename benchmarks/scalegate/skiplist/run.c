/* Entering a run: find the gap, cut what is in the way, link.
 *
 * Cutting. A run goes behind the last node before it. That node may be a run of another source that
 *     reaches beyond it; then it is cut in two, and the cut and the new node's entry are one
 *     compare-and-swap, because a node's length and its successor share a word:
 *
 *         before --n--> next        before --k--> run --m--> rest --(n - k)--> next
 *
 *     Only tuples that no reader has reached are cut off: what a reader has reached lies before the
 *     last item of every source, and so before all that is still to be added.
 *     Both new nodes come from the pool of the source that cuts. Its runs lie in the list in the order in
 *     which it takes their nodes, but a rest may stay ahead of many of them. Never more than one for
 *     each other source, though: whose run has a rest there cannot add anything before that.
 * Start. A source begins its walk at the node that holds its last item, because no reader passes that.
 *     If another source cuts it, that is the rest; so whoever cuts reports the rests to their sources
 *     before he publishes. Until then readers are held before the cut, at his own last item.
 *     Reports may overtake each other: the one that is further on stays.
 * Order. L0: a node is written before the link that leads to it is released; who acquires that link
 *     reads it. S0: a report comes before readers pass the cut, so before anybody finds it passed (P2 in
 *     pool.c); S1: a source looks for reports inside a walk, as for P1 there. So either it finds the
 *     report, or the cut node is not used again before the walk ends.
 * ABA. A link is swapped only at nodes from the source's own last item on. No reader passes that, so
 *     none of them is used again meanwhile, and a node's link never returns to an old value: its
 *     length only shrinks, and its successor only comes closer.
 */
#include "run.h"

#include "list.h"
#include "pool.h"

/* Writes one of the next nodes to be taken; nobody else sees it. */
static uint32_t prepare(sl_gate *gate, uint32_t source, uint32_t which, sl_key key, uint64_t link)
{
    uint32_t index = sl_pool_peek(gate, source, which);
    sl_node *node = sl_node_at(gate, index);
    node->first = sl_spot_of(key.position);
    node->tie = key.tie;
    /* Relaxed: L0 puts these before the node can be found. */
    atomic_store_explicit(&node->link, link, memory_order_relaxed);
    for (uint32_t level = 0; level < SL_UPPER; level++)
        atomic_store_explicit(&node->up[level], 0, memory_order_relaxed);
    return index;
}

/* How many tuples of a node, which is of another source or ends before it, lie before `key`. */
static uint32_t length_before(const sl_gate *gate, const sl_node *node, uint32_t count, sl_key key,
                              uint32_t source)
{
    uint32_t from = sl_tie_source(node->tie);
    if (count < 2 || from == source)
        return count;
    const vp_position *positions = sl_position_of(gate, from, sl_tie_number(node->tie));
    if (sl_precedes((sl_key){positions[count - 1], node->tie + count - 1}, key))
        return count;
    return sl_stretch(positions, count, node->tie, key, 1);
}

/* A place in the list: behind the first `kept` tuples of a node, whose link was `link`. */
typedef struct {
    sl_node *node;
    uint64_t link;
    uint32_t kept;
} gap;

static gap gap_for(sl_gate *gate, uint32_t source, sl_key key)
{
    gap found;
    found.node = sl_node_at(gate, sl_list_before(gate, sl_source_of(gate, source), key, &found.link));
    found.kept = length_before(gate, found.node, sl_link_count(found.link), key, source);
    return found;
}

static bool cuts(gap place)
{
    return place.kept < sl_link_count(place.link);
}

/* The first item that a gap lies before: of the rest, or of the next node. False if it is the last. */
static bool end_of_gap(const sl_gate *gate, gap place, sl_key *end)
{
    uint32_t next = sl_link_next(place.link);
    if (cuts(place)) {
        uint64_t tie = place.node->tie + place.kept;
        *end = (sl_key){*sl_position_of(gate, sl_tie_source(tie), sl_tie_number(tie)), tie};
    } else if (next) {
        *end = sl_node_key(sl_node_at(gate, next));
    }
    return cuts(place) || next;
}

/* How many of a source's tuples, `count` from `number` on, go into a gap together. */
static uint32_t run_length(const sl_gate *gate, uint32_t source, uint64_t number, uint32_t count, gap place)
{
    uint64_t to_the_end = gate->tuple_count - (number & (gate->tuple_count - 1));
    if (count > to_the_end)
        count = (uint32_t)to_the_end; /* a run's positions lie in one piece */
    sl_key end;
    if (!end_of_gap(gate, place, &end))
        return count;
    return sl_stretch(sl_position_of(gate, source, number), count, sl_tie(source, number), end, 1);
}

static sl_place place_of(uint64_t tie, uint32_t index)
{
    return sl_tie_number(tie) << 32 | index;
}

static sl_place *rests(const sl_gate *gate, uint32_t source)
{
    return (sl_place *)sl_at(gate, gate->rests_at) + (uint64_t)source * gate->source_count;
}

/* Links one node, which begins with `key` and has `count` tuples, into the gap; false if others were
 * there first. */
static bool fill(sl_gate *gate, uint32_t source, sl_key key, uint32_t count, gap place)
{
    sl_source *own = sl_source_of(gate, source);
    uint32_t next = sl_link_next(place.link);
    sl_key end;
    bool has_rest = cuts(place) && end_of_gap(gate, place, &end);
    if (has_rest)
        next = prepare(gate, source, 1, end, sl_link(sl_link_count(place.link) - place.kept, next));
    uint32_t node = prepare(gate, source, 0, key, sl_link(count, next));
    SL_STEP();
    if (!atomic_compare_exchange_strong_explicit(&place.node->link, &place.link, sl_link(place.kept, node),
                                                 memory_order_release, memory_order_relaxed)) /* L0 -> L0 */
        return false;
    own->finger = node;
    sl_list_raise(gate, own, sl_pool_take(gate, source, false));
    if (has_rest) {
        sl_pool_take(gate, source, true);
        rests(gate, source)[sl_tie_source(end.tie)] = place_of(end.tie, next);
        own->has_cut = true;
    }
    return true;
}

uint32_t sl_run_enter(sl_gate *gate, uint32_t source, sl_key key, uint32_t most)
{
    for (;;) {
        gap place = gap_for(gate, source, key);
        uint32_t count = most > 0 ? run_length(gate, source, sl_tie_number(key.tie), most, place) : 0;
        if (fill(gate, source, key, count, place))
            return count;
    }
}

/* Tells a source where its last item is, unless it knows a node further on. */
static void report(sl_gate *gate, uint32_t source, sl_place place)
{
    _Atomic uint64_t *last = &sl_source_of(gate, source)->last;
    uint64_t known = atomic_load_explicit(last, memory_order_relaxed); /* relaxed: the swap below decides */
    while ((int32_t)((uint32_t)(place >> 32) - (uint32_t)(known >> 32)) > 0) {
        SL_STEP();
        if (atomic_compare_exchange_weak_explicit(last, &known, place, memory_order_release, /* S0 -> S1 */
                                                  memory_order_relaxed))
            return;
    }
}

static void report_rests(sl_gate *gate, uint32_t source)
{
    for (uint32_t i = 0; i < gate->source_count; i++) {
        sl_place *rest = &rests(gate, source)[i];
        if (*rest)
            report(gate, i, *rest);
        *rest = 0;
    }
}

void sl_run_begin(sl_gate *gate, uint32_t source)
{
    sl_source *own = sl_source_of(gate, source);
    sl_pool_enter(own);
    own->finger = (uint32_t)atomic_load_explicit(&own->last, memory_order_acquire); /* S1 <- S0 */
    sl_list_check_hints(gate, own);
}

void sl_run_end(sl_gate *gate, uint32_t source)
{
    sl_source *own = sl_source_of(gate, source);
    report(gate, source, place_of(sl_node_at(gate, own->finger)->tie, own->finger));
    if (own->has_cut)
        report_rests(gate, source);
    own->has_cut = false;
    sl_pool_leave(own);
}
