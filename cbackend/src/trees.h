/* How a forest lies in its region; everything here is part of the arena's layout signature. And the one way in
 * which trees change: trees.c.
 *
 *     | vp_forest | table 0 | table 1 | ...
 *     table: | pushed | owner's words | trees ... | links ... |
 *     tree id: | generation: 20 | table: 16 | place: 22 |          generations count from 1, so 0 is no tree
 *     state:   | generation: 20 | count: 22 | held: 22 |
 *
 * Zeros are trees that never were, so memory that no tree was in is never touched.
 */
#ifndef VIPER_TREES_H
#define VIPER_TREES_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "viper/forest.h"

#define VP_FOREST_KIND UINT64_C(0x5650464f52455354)

enum { VP_PLACE_BITS = 22, VP_TABLE_BITS = 16, VP_COUNT_BITS = 22, VP_GENERATION_BITS = 20 };
enum {
    VP_COUNT_MASK = (1 << VP_COUNT_BITS) - 1,
    VP_GENERATIONS = (1 << VP_GENERATION_BITS) - 1,
    /* Counts that are none. */
    VP_FREE = 0,
    VP_DONE = VP_COUNT_MASK,     /* acked */
    VP_DEAD = VP_COUNT_MASK - 1, /* failed */
    VP_MOST = VP_COUNT_MASK - 2,
};

typedef struct {
    _Atomic uint64_t state;
    _Atomic uint64_t next;  /* behind it, where it waits: on its finisher's stack, on the owner's list, to be used again */
    _Atomic uint32_t links; /* the first, counted from 1; 0: a root. The owner's, while it lives fixed */
    _Atomic uint32_t swept; /* whether it was stalled at the sweep before, and ever since */
    uint32_t reason;        /* why it failed; 0: it did not. Its finisher's */
    uint32_t zombie;        /* whether it was ended without being on the list. The owner's */
} vp_tree;

typedef struct {
    _Atomic uint64_t parent;
    _Atomic uint32_t next; /* counted from 1; 0: none */
    uint32_t used;         /* for vp_table_reset */
} vp_link;

struct vp_table {
    alignas(VP_LINE) _Atomic uint64_t done; /* the tree that ended last; 0: none */
    _Atomic uint64_t bell;                  /* offset in the arena, 0: none */
    /* All that follows is the owner's. */
    alignas(VP_LINE) _Atomic uint64_t taken; /* what it takes off the list, as far as it has not come */
    uint64_t from_forest;                    /* bytes from the forest's start */
    uint64_t open;
    uint32_t index;
    uint32_t trees_touched, links_touched;         /* those behind were never used */
    uint32_t first_free, last_free, free_count;    /* trees to be used again, the oldest first, counted from 1 */
    uint32_t free_links;                           /* the first, counted from 1 */
};

struct vp_forest {
    alignas(VP_LINE) uint64_t kind;
    uint64_t at;                             /* bytes from the arena's start */
    uint64_t table_size, trees_at, links_at; /* from table to table, and from a table's start */
    uint32_t table_count, tree_count, link_count;
    _Atomic uint64_t incidents;
};

/* -- ids and states */

static inline uint32_t vp_tree_generation(uint64_t tree)
{
    return (uint32_t)(tree >> (VP_PLACE_BITS + VP_TABLE_BITS));
}

static inline uint32_t vp_tree_table(uint64_t tree)
{
    return (uint32_t)(tree >> VP_PLACE_BITS) & ((1u << VP_TABLE_BITS) - 1);
}

static inline uint32_t vp_tree_place(uint64_t tree)
{
    return (uint32_t)tree & ((1u << VP_PLACE_BITS) - 1);
}

static inline uint64_t vp_tree_id(uint32_t generation, uint32_t table, uint32_t place)
{
    return ((uint64_t)generation << VP_TABLE_BITS | table) << VP_PLACE_BITS | place;
}

static inline uint32_t vp_state_generation(uint64_t state)
{
    return (uint32_t)(state >> (2 * VP_COUNT_BITS));
}

static inline uint32_t vp_state_count(uint64_t state)
{
    return (uint32_t)(state >> VP_COUNT_BITS) & VP_COUNT_MASK;
}

static inline uint32_t vp_state_held(uint64_t state)
{
    return (uint32_t)state & VP_COUNT_MASK;
}

/* Held is taken modulo its bits: it may be below 0 for a moment, and must not borrow from the count. */
static inline uint64_t vp_state(uint32_t generation, uint32_t count, uint32_t held)
{
    return ((uint64_t)generation << VP_COUNT_BITS | count) << VP_COUNT_BITS | (held & VP_COUNT_MASK);
}

static inline bool vp_state_is_open(uint64_t state)
{
    return vp_state_count(state) - 1 < VP_MOST;
}

static inline bool vp_state_is_stalled(uint64_t state)
{
    return vp_state_is_open(state) && vp_state_count(state) == vp_state_held(state);
}

/* -- places */

static inline vp_table *vp_forest_table_at(const vp_forest *forest, uint32_t table)
{
    return (vp_table *)((char *)forest + sizeof(vp_forest) + table * forest->table_size);
}

static inline vp_tree *vp_tree_at(const vp_forest *forest, uint64_t tree)
{
    vp_table *table = vp_forest_table_at(forest, vp_tree_table(tree));
    return (vp_tree *)((char *)table + forest->trees_at) + vp_tree_place(tree);
}

/* A link of a table, counted from 1. */
static inline vp_link *vp_link_at(const vp_forest *forest, uint32_t table, uint32_t link)
{
    return (vp_link *)((char *)vp_forest_table_at(forest, table) + forest->links_at) + (link - 1);
}

static inline vp_forest *vp_table_forest(const vp_table *table)
{
    return (vp_forest *)((char *)table - table->from_forest);
}

/* -- changes */

/* What happens to a tree that lives: its count and what is held of it grow by so much, or, where there is a reason,
 * it fails. */
typedef struct {
    int64_t more;
    int32_t more_held;
    uint32_t reason;
} vp_change;

/* Changes a tree, and all that this moves; whether it was alive. */
bool vp_tree_apply(vp_forest *forest, uint64_t tree, vp_change change);

/* Whether a state is that of a tree that lives. */
static inline bool vp_tree_lives(uint64_t state, uint64_t tree)
{
    return vp_state_generation(state) == vp_tree_generation(tree) && vp_state_is_open(state);
}

/* -- the owner's */

/* Acquire: what a dead owner wrote before it published a tree. */
static inline uint64_t vp_tree_state(const vp_tree *tree)
{
    return atomic_load_explicit(&tree->state, memory_order_acquire); /* T1 <- T0 */
}

static inline bool vp_tree_is_root(const vp_tree *tree)
{
    return !atomic_load_explicit(&tree->links, memory_order_relaxed); /* relaxed: the owner's own */
}

static inline vp_tree *vp_table_tree(const vp_table *table, uint32_t place)
{
    return (vp_tree *)((char *)table + vp_table_forest(table)->trees_at) + place;
}

static inline vp_link *vp_table_link(const vp_table *table, uint32_t link)
{
    return vp_link_at(vp_table_forest(table), table->index, link);
}

/* -- roots.c */

/* Adds a place, or a link, to those that may be used again. */
void vp_table_spare_tree(vp_table *table, uint32_t place);
void vp_table_spare_link(vp_table *table, uint32_t link);

/* Likewise of a tree that was given up, with its links. */
void vp_table_recycle(vp_table *table, uint32_t place);

/* Takes the list of trees that have ended: appends its roots, if they are to be told. */
void vp_table_take_list(vp_table *table, vp_endings *endings);

/* The first of the list, which is `taken` from here on; 0 if it is empty. */
uint64_t vp_table_claim_list(vp_table *table);

/* Forgets the joints that no living tree needs. */
void vp_table_prune(vp_table *table);

/* Gives up a tree that lives in that state; false if it is in another one by now. Its place is free, but not yet
 * to be used again. */
bool vp_tree_give_up(vp_tree *tree, uint64_t state);

/* -- endings.c */

/* Appends what became of a root, for which there must be room. */
void vp_table_tell(vp_table *table, vp_endings *endings, uint64_t tree, uint32_t reason);

/* Room for that many more; 0, or VP_NO_MEMORY. */
int vp_endings_reserve(vp_endings *endings, uint64_t more);

#endif
