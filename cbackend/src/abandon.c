/* The owner's side of a table where it abandons trees that do not end by themselves: they expire, or a worker has
 * died.
 *
 * What lives is ended by the owner's own compare and swap, and free at once. What has ended, but is on no list, is
 * in its finisher's hands, who may be about to push it, or dead. It is told as failed, and becomes a zombie: if it
 * turns up on the list after all, it is forgotten in silence; if not, its place and its links are
 * lost to the run. That is as many as one call of the dead had in its hands.
 *
 * Sweeps.      A root expires if it was stalled at one sweep and at the next, and did not cease to be so in between.
 *              That is between one and two intervals after it stalled.
 */
#include "trees.h"

static uint64_t id_of(const vp_table *table, uint32_t place, uint64_t state)
{
    return vp_tree_id(vp_state_generation(state), table->index, place);
}

/* -- sweeps */

/* Whether a root has been stalled since the sweep before and was given up for it. */
static bool expires(vp_tree *at, uint64_t state)
{
    bool stalled = vp_state_is_stalled(state);
    /* Relaxed, both: whoever sees the tree move clears it, and one sweep more or less does no harm. */
    if (stalled && atomic_load_explicit(&at->swept, memory_order_relaxed) && vp_tree_give_up(at, state))
        return true;
    atomic_store_explicit(&at->swept, stalled, memory_order_relaxed);
    return false;
}

int64_t vp_table_expire(vp_table *table, vp_endings *endings)
{
    uint64_t before = endings->length;
    if (vp_endings_reserve(endings, table->open))
        return VP_NO_MEMORY;
    vp_table_prune(table);
    for (uint32_t place = 0; place < table->trees_touched; place++) {
        vp_tree *at = vp_table_tree(table, place);
        uint64_t state = vp_tree_state(at);
        if (!vp_state_is_open(state) || !vp_tree_is_root(at) || !expires(at, state))
            continue;
        vp_table_tell(table, endings, id_of(table, place, state), 0);
        vp_table_recycle(table, place);
    }
    return (int64_t)(endings->length - before);
}

/* -- incidents */

/* Fails the joints that live, and their parents: a root that began after the incident may be among them. */
static void fail_joints(vp_table *table)
{
    for (uint32_t place = 0; place < table->trees_touched; place++) {
        const vp_tree *at = vp_table_tree(table, place);
        uint64_t state = vp_tree_state(at);
        if (vp_state_is_open(state) && !vp_tree_is_root(at))
            vp_forest_fail(vp_table_forest(table), id_of(table, place, state), VP_TREE_LOST);
    }
}

/* Gives a tree up that lives, or makes it a zombie. Returns its state before, or one that is free if there is
 * nothing to tell of it. */
static uint64_t end(vp_tree *at)
{
    uint64_t state = vp_tree_state(at);
    while (vp_state_is_open(state)) {
        if (vp_tree_give_up(at, state))
            return state;
        state = vp_tree_state(at);
    }
    if (vp_state_count(state) == VP_FREE || at->zombie)
        return 0;
    at->zombie = 1;
    return state;
}

int64_t vp_table_fail_all(vp_table *table, vp_endings *endings)
{
    if (vp_endings_reserve(endings, table->open))
        return VP_NO_MEMORY;
    fail_joints(table);
    uint64_t before = endings->length;
    vp_table_take_list(table, endings);
    uint64_t taken = endings->length - before;
    for (uint32_t place = 0; place < table->trees_touched; place++) {
        vp_tree *at = vp_table_tree(table, place);
        uint64_t state = end(at);
        if (state && vp_tree_is_root(at))
            vp_table_tell(table, endings, id_of(table, place, state), 0);
        if (vp_state_is_open(state))
            vp_table_recycle(table, place);
    }
    return (int64_t)taken;
}

/* -- successors */

/* Frees all trees from one on, as far as they are not. Returns how many of them were open roots. */
static uint64_t free_list(vp_table *table, uint64_t first)
{
    uint64_t roots = 0, next;
    for (uint64_t tree = first; tree; tree = next) {
        vp_tree *at = vp_table_tree(table, vp_tree_place(tree));
        next = atomic_load_explicit(&at->next, memory_order_relaxed); /* relaxed: the owner's own, since D1 */
        if (vp_state_count(vp_tree_state(at)) == VP_FREE)
            continue;
        roots += vp_tree_is_root(at) && !at->zombie;
        atomic_store_explicit(&at->state, vp_state(vp_tree_generation(tree), VP_FREE, 0), memory_order_release);
    }
    return roots;
}

/* The links of zombies are still in use. */
static void spare_unused_links(vp_table *table)
{
    table->free_links = 0;
    for (uint32_t link = 1; link <= table->links_touched; link++)
        vp_table_link(table, link)->used = 0;
    for (uint32_t place = 0; place < table->trees_touched; place++) {
        const vp_tree *at = vp_table_tree(table, place);
        if (vp_state_count(vp_tree_state(at)) == VP_FREE)
            continue;
        /* Relaxed, both: the owner's own. */
        for (uint32_t link = atomic_load_explicit(&at->links, memory_order_relaxed); link;) {
            vp_table_link(table, link)->used = 1;
            link = atomic_load_explicit(&vp_table_link(table, link)->next, memory_order_relaxed);
        }
    }
    for (uint32_t link = 1; link <= table->links_touched; link++)
        if (!vp_table_link(table, link)->used)
            vp_table_spare_link(table, link);
}

/* Ends what is left and collects the free places. Returns how many were open roots. */
static uint64_t end_the_rest(vp_table *table)
{
    uint64_t roots = 0;
    table->free_count = 0;
    for (uint32_t place = 0; place < table->trees_touched; place++) {
        vp_tree *at = vp_table_tree(table, place);
        uint64_t state = end(at);
        roots += state && vp_tree_is_root(at);
        if (vp_state_count(vp_tree_state(at)) == VP_FREE)
            vp_table_spare_tree(table, place);
    }
    return roots;
}

uint64_t vp_table_reset(vp_table *table)
{
    fail_joints(table);
    /* What the dead owner had taken, or was about to: then it is also the end of the list. */
    uint64_t roots = free_list(table, atomic_load_explicit(&table->taken, memory_order_relaxed));
    roots += free_list(table, vp_table_claim_list(table));
    atomic_store_explicit(&table->taken, 0, memory_order_release);
    roots += end_the_rest(table);
    spare_unused_links(table);
    table->open = 0;
    return roots;
}
