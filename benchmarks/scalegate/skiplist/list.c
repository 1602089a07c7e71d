/* Searching, and the levels above the lowest.
 *
 * The lowest level alone is the list; the levels above are short cuts to it, each of them sorted, and a
 * node that is missing from them is only found more slowly. So what others do at those levels may
 * be lost to sight, but a short cut never leads past the goal.
 *
 * Progress: lock-free. A compare-and-swap fails only because another source linked a node.
 */
#include "list.h"

#include "pool.h"

/* Nodes that are looked at one by one before the levels above are used: sources that advance side by
 * side leave about one node each between two of one source. */
enum { NEAR = 8 };

static _Atomic uint64_t *up(const sl_gate *gate, sl_reference from, uint32_t level)
{
    return &sl_node_at(gate, (uint32_t)from)->up[level];
}

static bool precedes(const sl_gate *gate, uint32_t index, sl_key key)
{
    return sl_precedes(sl_node_key(sl_node_at(gate, index)), key);
}

/* Whether b is further ahead than a. The head is behind everything. */
static bool is_ahead(const sl_gate *gate, uint32_t b, uint32_t a)
{
    return b != SL_HEAD && (a == SL_HEAD || precedes(gate, a, sl_node_key(sl_node_at(gate, b))));
}

/* What follows at a level, as found and as counted: behind the head there can be a node that lives no
 * more, which is nothing, and gives way. */
static sl_reference successor(const sl_gate *gate, sl_reference from, uint32_t level, sl_reference *found)
{
    *found = atomic_load_explicit(up(gate, from, level), memory_order_acquire); /* L1 <- L1 */
    bool is_dead = from == SL_HEAD && *found && !sl_pool_lives(gate, *found);
    return is_dead ? 0 : *found;
}

/* Moves the hint of a level to the last node before `key`; returns the one behind. */
static sl_reference advance_hint(sl_gate *gate, sl_source *own, uint32_t level, sl_key key, sl_reference *found)
{
    sl_reference at = own->hints[level], next;
    if (level + 1 < SL_UPPER && is_ahead(gate, (uint32_t)own->hints[level + 1], (uint32_t)at))
        at = own->hints[level + 1];
    while ((next = successor(gate, at, level, found)) && precedes(gate, (uint32_t)next, key)) {
        at = next;
        SL_STEP();
    }
    own->hints[level] = at;
    return next;
}

/* Walks at level 0, for so many nodes at most; false if that was not far enough. */
static bool walk(sl_gate *gate, sl_source *own, sl_key key, uint64_t *link, uint32_t most)
{
    for (uint32_t i = 0; i < most; i++) {
        /* What is before the node's link was written is seen behind it: L0 in run.c. */
        *link = atomic_load_explicit(&sl_node_at(gate, own->finger)->link, memory_order_acquire); /* L0 <- L0 */
        uint32_t next = sl_link_next(*link);
        if (!next || !precedes(gate, next, key))
            return true;
        own->finger = next;
    }
    return false;
}

uint32_t sl_list_before(sl_gate *gate, sl_source *own, sl_key key, uint64_t *link)
{
    if (walk(gate, own, key, link, NEAR))
        return own->finger;
    sl_reference found;
    for (uint32_t level = SL_UPPER; level-- > 0;)
        advance_hint(gate, own, level, key, &found);
    if (is_ahead(gate, (uint32_t)own->hints[0], own->finger))
        own->finger = (uint32_t)own->hints[0];
    walk(gate, own, key, link, UINT32_MAX);
    return own->finger;
}

void sl_list_check_hints(sl_gate *gate, sl_source *own)
{
    for (uint32_t level = 0; level < SL_UPPER; level++)
        if (own->hints[level] && !sl_pool_lives(gate, own->hints[level]))
            own->hints[level] = SL_HEAD;
}

/* A quarter of the nodes of a level are in the next one as well. */
static uint32_t random_height(sl_source *own)
{
    own->random = own->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t height = 0;
    for (uint64_t bits = own->random >> 40; height < SL_UPPER && bits % 4 == 0; bits /= 4)
        height++;
    return height;
}

static void link_at(sl_gate *gate, sl_source *own, sl_reference node, uint32_t level)
{
    sl_key key = sl_node_key(sl_node_at(gate, (uint32_t)node));
    sl_reference found;
    do {
        sl_reference next = advance_hint(gate, own, level, key, &found);
        /* Relaxed: L1 below puts it before the node can be found at this level. */
        atomic_store_explicit(up(gate, node, level), next, memory_order_relaxed);
        SL_STEP();
    } while (!atomic_compare_exchange_strong_explicit(up(gate, own->hints[level], level), &found, node,
                                                      memory_order_release, memory_order_relaxed)); /* L1 -> L1 */
    own->hints[level] = node;
}

void sl_list_raise(sl_gate *gate, sl_source *own, sl_reference node)
{
    uint32_t height = random_height(own);
    for (uint32_t level = 0; level < height; level++)
        link_at(gate, own, node, level);
}
