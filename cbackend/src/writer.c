/* One slice at a time.
 *
 * Claims.  An extent is tentative until the commit of the slice that claimed it, where a logged write settles it. So
 *          a playback makes it tentative again, and the pool takes it back.
 * Frees.   They wait in private memory until the commit, and are logged writes there: cells go onto their free lists,
 *          extents become going ones. Extents that are going are given back behind the commit; who dies in between
 *          leaves them to the pool.
 * Entries. Their parts are settled as soon as the log knows them, since they are never given back.
 */
#include "writer.h"

#include <stdlib.h>
#include <string.h>

uint64_t vp_undo_size(void)
{
    return sizeof(vp_undo);
}

vp_undo *vp_undo_format(void *arena, uint64_t offset, uint32_t owner)
{
    vp_undo *undo = (vp_undo *)((char *)arena + offset);
    *undo = (vp_undo){.owner = owner};
    return undo;
}

/* -- the log's parts */

static uint64_t entries_of(uint32_t part)
{
    return (uint64_t)VP_UNDO_FIRST << part;
}

static vp_undo_entry *part_at(const vp_writer *writer, uint32_t part)
{
    return (vp_undo_entry *)(writer->arena + vp_read(&writer->undo->parts[part]));
}

/* The entry of a number. */
static vp_undo_entry *entry_at(const vp_writer *writer, uint64_t number)
{
    uint32_t part = 63 - (uint32_t)__builtin_clzll(number / VP_UNDO_FIRST + 1);
    return part_at(writer, part) + (number - (entries_of(part) - VP_UNDO_FIRST));
}

/* What is written next goes to the entry of a number. */
static void go_to(vp_writer *writer, uint64_t number)
{
    writer->part = 63 - (uint32_t)__builtin_clzll(number / VP_UNDO_FIRST + 1);
    writer->next = writer->end = NULL;
    if (number < writer->room) {
        writer->next = entry_at(writer, number);
        writer->end = part_at(writer, writer->part) + entries_of(writer->part);
    }
}

void vp_writer_turn_over(vp_writer *writer)
{
    go_to(writer, writer->length);
}

static void settle(vp_writer *writer, uint64_t extent)
{
    vp_word *word = vp_pool_word(writer->pool, extent);
    uint64_t found = vp_read(word);
    uint64_t settled = vp_extent(VP_SETTLED, vp_extent_owner(found), vp_extent_blocks(found));
    atomic_store_explicit(word, settled, memory_order_relaxed);
}

int vp_writer_grow(vp_writer *writer, uint64_t words)
{
    while (writer->room - writer->length < writer->promised + words) {
        uint32_t part = 63 - (uint32_t)__builtin_clzll(writer->room / VP_UNDO_FIRST + 1);
        if (part == VP_UNDO_PARTS)
            return VP_NO_ROOM;
        uint64_t blocks = entries_of(part) * sizeof(vp_undo_entry) / VP_POOL_BLOCK;
        uint64_t extent = vp_pool_claim(writer->pool, (uint32_t)writer->undo->owner, blocks);
        if (!extent)
            return VP_NO_ROOM;
        VP_CRASH_POINT("grow: claimed");
        atomic_store_explicit(&writer->undo->parts[part], extent, memory_order_relaxed);
        VP_CRASH_POINT("grow: known");
        settle(writer, extent);
        writer->room += entries_of(part);
    }
    return 0;
}

/* -- open and close */

static void find_parts(vp_writer *writer)
{
    for (uint32_t part = 0; part < VP_UNDO_PARTS && vp_read(&writer->undo->parts[part]); part++) {
        settle(writer, vp_read(&writer->undo->parts[part]));
        writer->room += entries_of(part);
    }
}

/* Plays the log back down to a length. Whoever dies here leaves entries that are played back once more: the last
 * values that a word gets are the same. */
static void play_back(vp_writer *writer, uint64_t length)
{
    while (writer->length > length) {
        const vp_undo_entry *entry = entry_at(writer, writer->length - 1);
        atomic_store_explicit((vp_word *)(writer->arena + entry->at), entry->before, memory_order_relaxed);
        VP_CRASH_POINT("back: written");
        atomic_signal_fence(memory_order_seq_cst);
        atomic_store_explicit(&writer->undo->length, --writer->length, memory_order_relaxed);
    }
    go_to(writer, length);
}

vp_writer *vp_writer_open(void *arena, vp_pool *pool, vp_undo *undo, const uint8_t *owned, uint64_t owner_count)
{
    vp_writer *writer = malloc(sizeof *writer);
    if (!writer)
        return NULL;
    *writer = (vp_writer){.arena = arena, .pool = pool, .undo = undo, .length = vp_read(&undo->length)};
    find_parts(writer);
    play_back(writer, 0);
    vp_pool_reclaim(pool, owned, owner_count);
    return writer;
}

void vp_writer_close(vp_writer *writer)
{
    vp_writer_back(writer, (vp_savepoint){0, 0, 0});
    vp_writer_abandon(writer);
}

void vp_writer_abandon(vp_writer *writer)
{
    free(writer->freed);
    free(writer->claimed);
    free(writer);
}

/* -- words */

int vp_writer_write(vp_writer *writer, uint64_t offset, uint64_t value)
{
    if (vp_writer_reserve(writer, 1))
        return VP_NO_ROOM;
    vp_write(writer, (vp_word *)(writer->arena + offset), value);
    return 0;
}

vp_savepoint vp_writer_savepoint(const vp_writer *writer)
{
    return (vp_savepoint){writer->length, writer->freed_count, writer->claimed_count};
}

void vp_writer_back(vp_writer *writer, vp_savepoint place)
{
    play_back(writer, place.length);
    writer->freed_count = place.freed;
    while (writer->claimed_count > place.claimed)
        vp_pool_give(writer->pool, writer->claimed[--writer->claimed_count]);
    writer->promised = 2 * writer->freed_count + writer->claimed_count;
}

uint64_t vp_writer_written(const vp_writer *writer)
{
    return writer->length;
}

/* -- what comes and goes with a commit */

/* Makes room for one more item of a private array; 0, or VP_NO_ROOM. */
static int one_more(void **items, uint64_t count, uint64_t *room, size_t size)
{
    if (count < *room)
        return 0;
    uint64_t larger = *room ? 2 * *room : 16;
    void *moved = realloc(*items, larger * size);
    if (!moved)
        return VP_NO_ROOM;
    *items = moved;
    *room = larger;
    return 0;
}

uint64_t vp_writer_claim(vp_writer *writer, uint32_t owner, uint64_t blocks)
{
    void *items = writer->claimed;
    int full = one_more(&items, writer->claimed_count, &writer->claimed_room, sizeof *writer->claimed);
    writer->claimed = items;
    if (full || vp_writer_reserve(writer, 2))
        return 0;
    uint64_t extent = vp_pool_claim(writer->pool, owner, blocks);
    if (extent) {
        writer->claimed[writer->claimed_count++] = extent;
        writer->promised++;
    }
    return extent;
}

int vp_writer_free(vp_writer *writer, vp_word *list, uint64_t at)
{
    void *items = writer->freed;
    int full = one_more(&items, writer->freed_count, &writer->freed_room, sizeof *writer->freed);
    writer->freed = items;
    if (full || vp_writer_reserve(writer, 3))
        return VP_NO_ROOM;
    writer->freed[writer->freed_count++] = (vp_freed){list, at};
    writer->promised += 2;
    return 0;
}

static void set_state(vp_writer *writer, uint64_t extent, uint64_t state)
{
    vp_word *word = vp_pool_word(writer->pool, extent);
    uint64_t found = vp_read(word);
    vp_write(writer, word, vp_extent(state, vp_extent_owner(found), vp_extent_blocks(found)));
}

static void give_up(vp_writer *writer, const vp_freed *freed)
{
    if (!freed->list) {
        set_state(writer, freed->at, VP_GOING);
        return;
    }
    vp_write(writer, (vp_word *)(writer->arena + freed->at), vp_read(freed->list));
    vp_write(writer, freed->list, freed->at);
}

void vp_writer_commit(vp_writer *writer)
{
    for (uint64_t i = 0; i < writer->claimed_count; i++)
        set_state(writer, writer->claimed[i], VP_SETTLED);
    for (uint64_t i = 0; i < writer->freed_count; i++)
        give_up(writer, &writer->freed[i]);
    VP_CRASH_POINT("commit: not yet");
    /* Release: whoever sees what the task publishes behind its commit sees the words. */
    atomic_store_explicit(&writer->undo->length, 0, memory_order_release);
    VP_CRASH_POINT("commit: done");
    writer->length = writer->promised = writer->claimed_count = 0;
    for (uint64_t i = 0; i < writer->freed_count; i++)
        if (!writer->freed[i].list)
            vp_pool_give(writer->pool, writer->freed[i].at);
    writer->freed_count = 0;
    go_to(writer, 0);
}
