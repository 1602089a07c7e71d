/* Whoever dies between two stores here leaves an attempt that is nobody's, or one that is settled once more: a row counts
 * as changed too often rather than too seldom. */
#include "changes.h"

uint64_t vp_changes_size(void)
{
    return sizeof(vp_changes);
}

vp_changes *vp_changes_format(void *arena, uint64_t offset)
{
    vp_changes *changes = (vp_changes *)((char *)arena + offset);
    *changes = (vp_changes){.generation = 1};
    return changes;
}

static void set(vp_word *word, uint64_t value)
{
    atomic_signal_fence(memory_order_seq_cst); /* in the order of the program, as seen by whoever goes on */
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Puts larger maps in the place of those that there are: 0, or VP_NO_ROOM. */
static int replace(vp_writer *writer, vp_changes *changes, vp_heap *heap, uint64_t words)
{
    uint64_t before = vp_read(&changes->words), size = words * sizeof(vp_word);
    uint64_t cell = vp_heap_take(writer, heap, 2 * size);
    if (!cell)
        return VP_NO_ROOM;
    memset(writer->arena + cell, 0, 2 * size);
    for (uint64_t which = 0; before && which < 2; which++)
        memcpy(writer->arena + cell + which * size, vp_changes_map(writer, changes, which), before * sizeof(vp_word));
    VP_CRASH_POINT("changes: copied");
    if ((before && vp_heap_free(writer, heap, vp_read(&changes->maps), 2 * before * sizeof(vp_word))) ||
        vp_writer_reserve(writer, 2))
        return VP_NO_ROOM;
    vp_write(writer, &changes->maps, cell);
    vp_write(writer, &changes->words, words);
    return 0;
}

int vp_changes_grow(vp_writer *writer, vp_changes *changes, vp_heap *heap, uint64_t number)
{
    uint64_t words = vp_read(&changes->words) ? 2 * vp_read(&changes->words) : 1;
    while (words <= number / 64)
        words *= 2;
    vp_savepoint before = vp_writer_savepoint(writer);
    if (replace(writer, changes, heap, words) == 0)
        return 0;
    vp_writer_back(writer, before);
    return VP_NO_ROOM;
}

int vp_changes_renumber(vp_writer *writer, vp_changes *changes)
{
    if (vp_writer_reserve(writer, 1))
        return VP_NO_ROOM;
    vp_write(writer, &changes->generation, vp_read(&changes->generation) + 1);
    return 0;
}

/* Empties the map of the last attempt; with `join`, what it has counts as changed. */
static void empty(const vp_writer *writer, vp_changes *changes, bool join)
{
    uint64_t current = vp_read(&changes->current), words = vp_read(&changes->words);
    vp_word *from = vp_changes_map(writer, changes, !current), *to = vp_changes_map(writer, changes, current);
    if (join) {
        for (uint64_t i = 0; i < words; i++)
            if (vp_read(&from[i]))
                set(&to[i], vp_read(&to[i]) | vp_read(&from[i]));
        VP_CRASH_POINT("changes: joined");
        set(&changes->counts[current], vp_read(&changes->counts[0]) + vp_read(&changes->counts[1]));
        atomic_signal_fence(memory_order_seq_cst);
    }
    memset(from, 0, words * sizeof *from);
    VP_CRASH_POINT("changes: emptied");
    set(&changes->counts[!current], 0);
}

void vp_changes_settle(const vp_writer *writer, vp_changes *changes, uint64_t since)
{
    uint64_t attempt = vp_read(&changes->attempt);
    bool is_saved = attempt && attempt == since;
    if (is_saved) {
        set(&changes->saved.generation, vp_read(&changes->tried.generation));
        VP_CRASH_POINT("changes: settled");
        set(&changes->saved.rows, vp_read(&changes->tried.rows));
    }
    if (vp_read(&changes->words))
        empty(writer, changes, !is_saved);
    set(&changes->attempt, 0);
}

uint64_t vp_changes_count(const vp_changes *changes)
{
    return vp_read(&changes->counts[vp_read(&changes->current)]);
}

bool vp_changes_are_unknown(const vp_changes *changes)
{
    return vp_read(&changes->saved.generation) != vp_read(&changes->generation);
}

void vp_changes_cut(vp_changes *changes, uint64_t attempt, uint64_t rows)
{
    set(&changes->current, !vp_read(&changes->current));
    VP_CRASH_POINT("changes: turned");
    set(&changes->tried.generation, vp_read(&changes->generation));
    set(&changes->tried.rows, rows);
    set(&changes->attempt, attempt);
}
