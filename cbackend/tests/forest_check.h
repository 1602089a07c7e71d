/* Forests in arenas of their own, for the tests of trees. */
#ifndef VIPER_FOREST_CHECK_H
#define VIPER_FOREST_CHECK_H

#include <string.h>

#include "check.h"
#include "trees.h"
#include "viper/arena.h"

typedef struct {
    vp_arena *arena;
    vp_forest *forest;
    vp_endings *endings;
} woods;

static inline woods plant_woods(uint32_t tables, uint32_t trees, uint32_t links)
{
    vp_forest_shape shape = {tables, trees, links};
    uint64_t size = vp_arena_rounded(vp_forest_size(shape)) + 4 * VP_LINE;
    woods w = {.arena = vp_arena_new(size), .endings = vp_endings_new()};
    CHECK(w.arena && w.endings);
    w.forest = vp_forest_format(w.arena, vp_arena_allocate(w.arena, vp_forest_size(shape)), shape);
    return w;
}

static inline void fell(woods w)
{
    vp_endings_free(w.endings);
    vp_arena_free(w.arena, w.arena->capacity);
}

static inline vp_table *table_of(woods w, uint32_t table)
{
    return vp_forest_table(w.forest, table);
}

static inline uint64_t begin_one(woods w, uint32_t table)
{
    uint64_t tree = 0;
    CHECK_EQUAL(vp_table_begin(table_of(w, table), 1, &tree), 1);
    return tree;
}

static inline uint64_t join_two(woods w, uint32_t table, uint64_t a, uint64_t b)
{
    uint64_t parents[] = {a, b};
    int64_t joint = vp_table_join(table_of(w, table), parents, 2);
    CHECK(joint > 0);
    return (uint64_t)joint;
}

static inline void add_to(woods w, uint64_t tree, uint32_t copies)
{
    vp_position position = {0, 0, 0, tree};
    CHECK(vp_forest_add(w.forest, &(vp_positions){.data = &position, .length = 1, .capacity = 1}, 0, 1, copies));
}

static inline void ack_one(woods w, uint64_t tree)
{
    vp_forest_ack_trees(w.forest, &tree, 1);
}

/* How many places and links of a table are still to be had. */
static inline uint32_t places_left(woods w, uint32_t table)
{
    const vp_table *of = table_of(w, table);
    return of->free_count + w.forest->tree_count - of->trees_touched;
}

static inline uint32_t links_left(woods w, uint32_t table)
{
    const vp_table *of = table_of(w, table);
    uint32_t left = w.forest->link_count - of->links_touched;
    for (uint32_t link = of->free_links; link; link = atomic_load(&vp_table_link(of, link)->next))
        left++;
    return left;
}

/* Takes; exactly these must have ended, in this order. */
#define CHECK_TAKEN(w, table, count, ...)                                              \
    do {                                                                               \
        const uint64_t trees_[] = {__VA_ARGS__};                                       \
        (w).endings->length = 0;                                                       \
        CHECK_EQUAL(vp_table_take(table_of(w, table), (w).endings), count);            \
        for (uint64_t i_ = 0; i_ < (count); i_++) {                                    \
            CHECK_EQUAL((w).endings->trees[i_], trees_[2 * i_]);                       \
            CHECK_EQUAL((w).endings->reasons[i_], trees_[2 * i_ + 1]);                 \
        }                                                                              \
    } while (0)

#define CHECK_NONE_TAKEN(w, table) CHECK_EQUAL(vp_table_take(table_of(w, table), (w).endings), 0)

static inline uint64_t expire(woods w, uint32_t table)
{
    w.endings->length = 0;
    return (uint64_t)vp_table_expire(table_of(w, table), w.endings);
}

#endif
