/* The owner's side of a table in a run without deaths: trees begin, are taken when they have ended, and expire.
 * trees.c has the roles, the invariant and the orders T0, D0 and L0.
 *
 * Places.      A place that a tree has left is used again late, after at least ENOUGH others: its generations
 *              go round slowly, and yet few places are touched. Links are used again at once.
 * Death.       What the owner alone writes may be left half done: vp_table_reset makes it anew. It is enough
 *              that trees that were taken off the list, but not forgotten, are found again. So what is about
 *              to be taken is noted in `taken` before the list is swapped, and each tree of it is free before
 *              `taken` goes on behind it, and used again only after that. Each of these words is
 *              released, so that no compiler moves one across the other.
 */
#include <stdlib.h>

#include "crash.h"
#include "trees.h"

enum { ENOUGH = 1024 };

bool vp_table_has_done(const vp_table *table)
{
    return atomic_load_explicit(&table->done, memory_order_relaxed); /* relaxed: taking acquires */
}

uint64_t vp_table_open(const vp_table *table)
{
    return table->open;
}

/* -- places and links */

void vp_table_spare_tree(vp_table *table, uint32_t place)
{
    atomic_store_explicit(&vp_table_tree(table, place)->next, 0, memory_order_release); /* behind `taken` */
    if (table->free_count++)
        atomic_store_explicit(&vp_table_tree(table, table->last_free - 1)->next, place + 1, memory_order_release);
    else
        table->first_free = place + 1;
    table->last_free = place + 1;
}

void vp_table_spare_link(vp_table *table, uint32_t link)
{
    atomic_store_explicit(&vp_table_link(table, link)->next, table->free_links, memory_order_release); /* L0 -> L1 */
    table->free_links = link;
}

/* A place for a new tree, counted from 1; 0 if there is none. */
static uint32_t place_for_tree(vp_table *table)
{
    bool untouched = table->trees_touched < vp_table_forest(table)->tree_count;
    if (untouched && table->free_count < ENOUGH)
        return ++table->trees_touched;
    if (!table->free_count)
        return 0;
    uint32_t place = table->first_free;
    table->free_count--;
    /* Relaxed: the owner's own, in a free place. */
    table->first_free = (uint32_t)atomic_load_explicit(&vp_table_tree(table, place - 1)->next, memory_order_relaxed);
    return place;
}

/* A link to a parent in front of others; 0 if there is none left. */
static uint32_t link_to(vp_table *table, uint64_t parent, uint32_t others)
{
    uint32_t link = table->free_links;
    if (link)
        table->free_links = atomic_load_explicit(&vp_table_link(table, link)->next, memory_order_relaxed);
    else if (table->links_touched < vp_table_forest(table)->link_count)
        link = ++table->links_touched;
    else
        return 0;
    atomic_store_explicit(&vp_table_link(table, link)->parent, parent, memory_order_release); /* L0 -> L1 */
    atomic_store_explicit(&vp_table_link(table, link)->next, others, memory_order_release);   /* L0 -> L1 */
    return link;
}

static void spare_links(vp_table *table, uint32_t link)
{
    while (link) {
        uint32_t next = atomic_load_explicit(&vp_table_link(table, link)->next, memory_order_relaxed);
        vp_table_spare_link(table, link);
        link = next;
    }
}

/* -- beginning */

static uint64_t begin(vp_table *table, uint32_t place, uint32_t links)
{
    vp_tree *at = vp_table_tree(table, place - 1);
    /* Relaxed: in a free place only the owner writes. */
    uint32_t before = vp_state_generation(atomic_load_explicit(&at->state, memory_order_relaxed));
    uint32_t generation = before % VP_GENERATIONS + 1;
    at->reason = 0;
    at->zombie = 0;
    atomic_store_explicit(&at->swept, 0, memory_order_relaxed);
    atomic_store_explicit(&at->links, links, memory_order_release);                         /* L0 -> L1 */
    atomic_store_explicit(&at->state, vp_state(generation, 1, 0), memory_order_release); /* T0 -> T1 */
    return vp_tree_id(generation, table->index, place - 1);
}

uint32_t vp_table_begin(vp_table *table, uint32_t count, uint64_t *trees)
{
    uint32_t made = 0, place;
    while (made < count && (place = place_for_tree(table)) > 0)
        trees[made++] = begin(table, place, 0);
    table->open += made;
    return made;
}

/* Links to those parents that live, each of which counts one more tuple; false, with those so far, if there are
 * not enough. */
static bool adopt(vp_table *table, const uint64_t *parents, uint64_t count, uint32_t *links)
{
    for (uint64_t i = 0; i < count; i++) {
        bool again = i > 0 && parents[i] == parents[i - 1];
        if (again || !vp_tree_apply(vp_table_forest(table), parents[i], (vp_change){1, 0, 0}))
            continue;
        VP_CRASH_POINT("join: added");
        uint32_t link = link_to(table, parents[i], *links);
        if (!link) {
            vp_tree_apply(vp_table_forest(table), parents[i], (vp_change){-1, 0, 0});
            return false;
        }
        *links = link;
    }
    return true;
}

static void disown(vp_table *table, uint32_t links)
{
    for (uint32_t link = links; link;) {
        const vp_link *at = vp_table_link(table, link);
        uint64_t parent = atomic_load_explicit(&at->parent, memory_order_relaxed);
        vp_tree_apply(vp_table_forest(table), parent, (vp_change){-1, 0, 0});
        link = atomic_load_explicit(&at->next, memory_order_relaxed);
    }
    spare_links(table, links);
}

/* Whether any tree that lives counts this joint. */
static bool is_needed(const vp_table *table, const vp_tree *at)
{
    /* Relaxed, both: the owner's own. */
    for (uint32_t link = atomic_load_explicit(&at->links, memory_order_relaxed); link;) {
        const vp_link *to = vp_table_link(table, link);
        if (vp_forest_alive(vp_table_forest(table), atomic_load_explicit(&to->parent, memory_order_relaxed)))
            return true;
        link = atomic_load_explicit(&to->next, memory_order_relaxed);
    }
    return false;
}

void vp_table_prune(vp_table *table)
{
    for (uint32_t place = 0; place < table->trees_touched; place++) {
        vp_tree *at = vp_table_tree(table, place);
        uint64_t state = vp_tree_state(at);
        if (vp_state_is_open(state) && !vp_tree_is_root(at) && !is_needed(table, at) && vp_tree_give_up(at, state))
            vp_table_recycle(table, place);
    }
}

static int64_t join(vp_table *table, const uint64_t *parents, uint64_t count)
{
    uint32_t links = 0, place = 0;
    bool adopted = adopt(table, parents, count, &links);
    if (adopted && !links)
        return 0;
    if (adopted)
        place = place_for_tree(table);
    if (place)
        return (int64_t)begin(table, place, links);
    disown(table, links);
    return VP_FOREST_FULL;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int64_t vp_table_join(vp_table *table, uint64_t *parents, uint64_t count)
{
    if (count > 1)
        qsort(parents, count, sizeof *parents, by_number);
    int64_t joint = join(table, parents, count);
    if (joint != VP_FOREST_FULL)
        return joint;
    vp_table_prune(table);
    return join(table, parents, count);
}

/* -- the end */

bool vp_tree_give_up(vp_tree *tree, uint64_t state)
{
    /* Release: before the place is used again, in the eyes of a successor. Relaxed on failure: the caller looks. */
    return atomic_compare_exchange_strong_explicit(&tree->state, &state, vp_state(vp_state_generation(state), VP_FREE, 0),
                                                   memory_order_release, memory_order_relaxed);
}

void vp_table_recycle(vp_table *table, uint32_t place)
{
    /* Relaxed: the owner's own. */
    spare_links(table, atomic_load_explicit(&vp_table_tree(table, place)->links, memory_order_relaxed));
    vp_table_spare_tree(table, place);
}

uint64_t vp_table_claim_list(vp_table *table)
{
    uint64_t first = atomic_load_explicit(&table->done, memory_order_acquire); /* D1 <- D0 */
    do {
        atomic_store_explicit(&table->taken, first, memory_order_release);
        VP_CRASH_POINT("take: noted");
        /* Release: behind `taken`. */
    } while (first && !atomic_compare_exchange_weak_explicit(&table->done, &first, 0, memory_order_acq_rel /* D1 <- D0 */,
                                                             memory_order_acquire /* D1 <- D0 */));
    return first;
}

static void reverse(vp_endings *endings, uint64_t first)
{
    for (uint64_t i = first, j = endings->length; i + 1 < j; i++) {
        j--;
        uint64_t tree = endings->trees[i];
        uint32_t reason = endings->reasons[i];
        endings->trees[i] = endings->trees[j];
        endings->reasons[i] = endings->reasons[j];
        endings->trees[j] = tree;
        endings->reasons[j] = reason;
    }
}

void vp_table_take_list(vp_table *table, vp_endings *endings)
{
    uint64_t first = endings->length, next;
    for (uint64_t tree = vp_table_claim_list(table); tree; tree = next) {
        vp_tree *at = vp_table_tree(table, vp_tree_place(tree));
        VP_CRASH_POINT("take: taken");
        /* Relaxed, all: the owner's own, since D1. */
        next = atomic_load_explicit(&at->next, memory_order_relaxed);
        if (!at->zombie && !atomic_load_explicit(&at->links, memory_order_relaxed))
            vp_table_tell(table, endings, tree, at->reason);
        atomic_store_explicit(&at->state, vp_state(vp_tree_generation(tree), VP_FREE, 0), memory_order_release);
        VP_CRASH_POINT("take: free");
        atomic_store_explicit(&table->taken, next, memory_order_release);
        vp_table_recycle(table, vp_tree_place(tree));
    }
    reverse(endings, first);
}

int64_t vp_table_take(vp_table *table, vp_endings *endings)
{
    uint64_t before = endings->length;
    if (vp_endings_reserve(endings, table->open))
        return VP_NO_MEMORY;
    vp_table_take_list(table, endings);
    return (int64_t)(endings->length - before);
}
