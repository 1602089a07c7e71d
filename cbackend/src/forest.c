/* Making forests, and what anybody does with the trees of tuples. */
#include <stddef.h>

#include "line.h"
#include "trees.h"
#include "viper/arena.h"

static uint64_t table_size(vp_forest_shape shape, uint64_t *links_at)
{
    *links_at = vp_arena_rounded(sizeof(vp_table) + shape.trees * sizeof(vp_tree));
    return vp_arena_rounded(*links_at + shape.links * sizeof(vp_link));
}

uint64_t vp_forest_size(vp_forest_shape shape)
{
    uint64_t links_at;
    return sizeof(vp_forest) + shape.tables * table_size(shape, &links_at);
}

vp_forest *vp_forest_format(void *arena, uint64_t offset, vp_forest_shape shape)
{
    vp_forest *forest = (vp_forest *)((char *)arena + offset);
    forest->at = offset;
    forest->trees_at = sizeof(vp_table);
    forest->table_size = table_size(shape, &forest->links_at);
    forest->table_count = shape.tables;
    forest->tree_count = shape.trees;
    forest->link_count = shape.links;
    for (uint32_t i = 0; i < shape.tables; i++) {
        vp_table *table = vp_forest_table_at(forest, i);
        table->from_forest = (uint64_t)((char *)table - (char *)forest);
        table->index = i;
    }
    forest->kind = VP_FOREST_KIND;
    return forest;
}

/* Whether all of a forest lies in so many bytes. */
static bool lies_within(const vp_forest *forest, uint64_t bytes)
{
    vp_forest_shape shape = {forest->table_count, forest->tree_count, forest->link_count};
    uint64_t links_at, size = table_size(shape, &links_at);
    return shape.tables > 0 && size == forest->table_size && links_at == forest->links_at &&
           forest->trees_at == sizeof(vp_table) && size <= (bytes - sizeof(vp_forest)) / shape.tables;
}

vp_forest *vp_forest_at(void *arena, uint64_t offset)
{
    uint64_t end = VP_LINE + ((const vp_arena *)arena)->used;
    if (offset % VP_LINE || offset > end || end - offset < sizeof(vp_forest))
        return NULL;
    vp_forest *forest = (vp_forest *)((char *)arena + offset);
    return forest->kind == VP_FOREST_KIND && forest->at == offset && lies_within(forest, end - offset) ? forest : NULL;
}

uint32_t vp_forest_tables(const vp_forest *forest)
{
    return forest->table_count;
}

vp_table *vp_forest_table(vp_forest *forest, uint32_t table)
{
    return vp_forest_table_at(forest, table);
}

/* Adds to the trees of positions, to one that several in a row have in one step. */
static bool add(vp_forest *forest, const vp_positions *positions, uint64_t first, uint64_t count, int64_t each)
{
    if (first > positions->length || count > positions->length - first)
        return false;
    if (vp_positions_on_line(positions)) /* which has no trees */
        return true;
    for (uint64_t i = first, end = first + count; i < end;) {
        uint64_t tree = positions->data[i].tree, run = i;
        while (i < end && positions->data[i].tree == tree)
            i++;
        if (tree)
            vp_tree_apply(forest, tree, (vp_change){(int64_t)(i - run) * each, 0, 0});
    }
    return true;
}

bool vp_forest_add(vp_forest *forest, const vp_positions *positions, uint64_t first, uint64_t count, uint32_t copies)
{
    return add(forest, positions, first, count, copies);
}

bool vp_forest_ack(vp_forest *forest, const vp_positions *positions, uint64_t first, uint64_t count)
{
    return add(forest, positions, first, count, -1);
}

void vp_forest_ack_trees(vp_forest *forest, const uint64_t *trees, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        vp_tree_apply(forest, trees[i], (vp_change){-1, 0, 0});
}

bool vp_forest_fail(vp_forest *forest, uint64_t tree, uint32_t reason)
{
    return vp_tree_apply(forest, tree, (vp_change){0, 0, reason});
}

void vp_forest_hold(vp_forest *forest, uint64_t tree)
{
    vp_tree_apply(forest, tree, (vp_change){0, 1, 0});
}

void vp_forest_unhold(vp_forest *forest, uint64_t tree)
{
    vp_tree_apply(forest, tree, (vp_change){0, -1, 0});
}

void vp_forest_answer_held(vp_forest *forest, uint64_t tree)
{
    vp_tree_apply(forest, tree, (vp_change){-1, -1, 0});
}

bool vp_forest_alive(const vp_forest *forest, uint64_t tree)
{
    if (!tree || vp_tree_table(tree) >= forest->table_count || vp_tree_place(tree) >= forest->tree_count)
        return false;
    /* Relaxed: nothing is read because of it. */
    return vp_tree_lives(atomic_load_explicit(&vp_tree_at(forest, tree)->state, memory_order_relaxed), tree);
}

uint64_t vp_forest_incidents(const vp_forest *forest)
{
    return atomic_load_explicit(&forest->incidents, memory_order_relaxed); /* relaxed: a bell orders what it is rung for */
}

void vp_forest_set_bell(vp_forest *forest, uint32_t table, uint64_t bell)
{
    /* Relaxed: set before the tasks run. */
    atomic_store_explicit(&vp_forest_table_at(forest, table)->bell, bell, memory_order_relaxed);
}
