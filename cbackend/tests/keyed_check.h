/* A table of keyed state beside a model of it that anybody can see through, and slices of random changes to both. */
#ifndef VIPER_KEYED_CHECK_H
#define VIPER_KEYED_CHECK_H

#include <string.h>

#include "check.h"
#include "keyed.h"
#include "snapshot.h"
#include "viper/arena.h"

enum { MODEL_KEYS = 120, MODEL_ROWS = 24000, VALUE_WORDS = 6, MOST_BYTES = 40000, MOST_APPENDED = 300000, OWNERS = 3 };
enum { LOG_OWNER = 1, HEAP_OWNER = 2 };

/* Where all of it lies in an arena. */
typedef struct {
    vp_arena *arena;
    vp_pool *pool;
    vp_undo *undo;
    vp_heap *heap;
    vp_keyed *table;
    vp_word *slices; /* how many are committed; a word that goes back with them */
    vp_changes *changes;
    vp_snapshot *snapshot; /* NULL: none is ever begun */
    vp_save *save;
} state;

/* Word 0 of a row is a number; words 1 and 2 are bytes: so many, which fill() has filled with a seed; words 3 and 4 are
 * bytes that were appended, `pattern`; word 5 is the offset of a table with the keys from `first` up to `last`. */
typedef struct {
    bool alive;
    uint32_t order;
    uint64_t number, length, seed, appended, first, last;
} model_row;

typedef struct {
    model_row rows[MODEL_KEYS];
    uint32_t entered;
} model;

static const uint8_t owned[OWNERS] = {0, 1, 1};

static inline state new_state(vp_arena *arena, uint64_t blocks)
{
    state made = {.arena = arena};
    uint64_t pool = vp_arena_allocate(arena, vp_pool_size(blocks));
    uint64_t undo = vp_arena_allocate(arena, vp_undo_size()), heap = vp_arena_allocate(arena, vp_heap_size());
    uint64_t table = vp_arena_allocate(arena, vp_keyed_size()), slices = vp_arena_allocate(arena, sizeof(vp_word));
    CHECK(pool && undo && heap && table && slices);
    made.pool = vp_pool_format(arena, pool, blocks);
    made.undo = vp_undo_format(arena, undo, LOG_OWNER);
    made.heap = vp_heap_format(arena, heap, HEAP_OWNER);
    made.table = vp_keyed_format(arena, table, VALUE_WORDS);
    made.slices = vp_arena_at(arena, slices);
    made.changes = vp_changes_format(arena, vp_arena_allocate(arena, vp_changes_size()));
    return made;
}

static inline vp_writer *open_writer(const state *at)
{
    vp_writer *writer = vp_writer_open(at->arena, at->pool, at->undo, owned, OWNERS);
    CHECK(writer);
    return writer;
}

/* Keys of 0 to 39 bytes. Few hashes, so that many of them are alike. */
static inline uint64_t key_of(uint32_t index, uint8_t *key)
{
    uint64_t length = index % 40;
    memset(key, 'k', 40);
    key[0] = (uint8_t)index;
    key[length ? length - 1 : 0] = (uint8_t)index;
    return length < 1 && index ? 1 : length;
}

static inline uint64_t hash_of(uint32_t index)
{
    return (uint64_t)(index % 50) * UINT64_C(0x9E3779B97F4A7C15);
}

static inline vp_row *find(const state *at, const vp_writer *writer, uint32_t index)
{
    uint8_t key[40];
    uint64_t length = key_of(index, key);
    return vp_keyed_find(writer, at->table, hash_of(index), key, length);
}

/* -- changes, to both */

/* What is done before a row changes. */
static inline int touch(const state *at, vp_writer *writer, vp_row *row)
{
    if (at->snapshot)
        CHECK(vp_snapshot_save(at->snapshot, writer, at->changes, row, at->save, NULL) == 0);
    return vp_changes_mark(writer, at->changes, at->heap, vp_row_number(row));
}

/* Enters a key, for which all rows may get other numbers. */
static inline vp_row *enter(const state *at, vp_writer *writer, uint32_t index)
{
    uint8_t key[40];
    uint64_t length = key_of(index, key);
    bool moved;
    if (at->snapshot && vp_keyed_would_move(at->table))
        CHECK(vp_snapshot_walk(at->snapshot, writer, at->table, at->changes, at->save, NULL) == 0);
    vp_row *row = vp_keyed_enter(writer, at->table, at->heap, hash_of(index), key, length, &moved);
    return row && moved && vp_changes_renumber(writer, at->changes) ? NULL : row;
}

static inline uint8_t pattern(uint64_t i)
{
    return (uint8_t)(i * 7 + i / 256);
}

/* Appends some bytes, seldom many, and begins anew when there are a lot. */
static inline int append(const state *at, vp_writer *writer, vp_bytes *bytes, model_row *of, uint64_t *random)
{
    static uint8_t data[MOST_BYTES];
    uint64_t length = random_below(random, 8) ? random_below(random, 30) : random_below(random, MOST_BYTES);
    if (of->appended + length > MOST_APPENDED) {
        of->appended = 0;
        return vp_bytes_set(writer, at->heap, bytes, NULL, 0);
    }
    for (uint64_t i = 0; i < length; i++)
        data[i] = pattern(of->appended + i);
    of->appended += length;
    return vp_bytes_append(writer, at->heap, bytes, data, length);
}

static inline vp_keyed *inner_table(const state *at, const uint64_t *word)
{
    return *word ? (vp_keyed *)((char *)at->arena + *word) : NULL;
}

static inline int set_word(const state *at, vp_writer *writer, const void *word, uint64_t to)
{
    return vp_writer_write(writer, (uint64_t)((const char *)word - (const char *)at->arena), to);
}

/* Enters some keys, each with itself as its value. */
static inline int enter_inner(const state *at, vp_writer *writer, uint64_t *word, model_row *of, uint32_t count)
{
    if (!*word) {
        uint64_t table = vp_keyed_new(writer, at->heap, 1);
        if (!table || set_word(at, writer, word, table))
            return VP_NO_ROOM;
    }
    for (; count > 0; count--) {
        bool moved;
        vp_row *row = vp_keyed_enter(writer, inner_table(at, word), at->heap, of->last * UINT64_C(0x9E3779B97F4A7C15),
                                     &of->last, sizeof of->last, &moved);
        if (!row || set_word(at, writer, vp_row_values(row), of->last))
            return VP_NO_ROOM;
        of->last++;
    }
    return 0;
}

static inline int drop_inner(const state *at, vp_writer *writer, uint64_t *word, model_row *of)
{
    vp_keyed *inner = inner_table(at, word);
    if (of->first == of->last)
        return 0;
    vp_row *row = vp_keyed_find(writer, inner, of->first * UINT64_C(0x9E3779B97F4A7C15), &of->first, sizeof of->first);
    CHECK(row);
    of->first++;
    return vp_keyed_drop(writer, inner, at->heap, row);
}

static inline int free_inner(const state *at, vp_writer *writer, uint64_t *word, model_row *of)
{
    vp_keyed *inner = inner_table(at, word);
    of->first = of->last = 0;
    return inner && (vp_keyed_free(writer, inner, at->heap) || set_word(at, writer, word, 0)) ? VP_NO_ROOM : 0;
}

static inline int change_inner(const state *at, vp_writer *writer, uint64_t *word, model_row *of, uint64_t *random)
{
    uint32_t what = random_below(random, 12);
    return what < 5    ? enter_inner(at, writer, word, of, 1 + random_below(random, what ? 4 : 40))
           : what < 11 ? drop_inner(at, writer, word, of)
                       : free_inner(at, writer, word, of);
}

static inline int set_values(const state *at, vp_writer *writer, vp_row *row, model_row *of, uint64_t *random)
{
    static uint8_t bytes[MOST_BYTES];
    uint64_t *values = vp_row_values(row);
    CHECK_EQUAL(values[0], of->number);
    of->number += random_below(random, 10);
    if (set_word(at, writer, values, of->number))
        return VP_NO_ROOM;
    if (random_below(random, 3) == 0 && append(at, writer, (vp_bytes *)(values + 3), of, random))
        return VP_NO_ROOM;
    if (random_below(random, 3) == 0 && change_inner(at, writer, values + 5, of, random))
        return VP_NO_ROOM;
    if (random_below(random, 3))
        return 0;
    of->length = random_below(random, 4) ? random_below(random, 40) : random_below(random, MOST_BYTES);
    of->seed = random_below(random, 1 << 20);
    fill(bytes, of->length, of->seed);
    return vp_bytes_set(writer, at->heap, (vp_bytes *)(values + 1), bytes, of->length);
}

static inline int update(const state *at, vp_writer *writer, model *of, uint32_t index, uint64_t *random)
{
    vp_row *row = enter(at, writer, index);
    if (!row || touch(at, writer, row))
        return VP_NO_ROOM;
    if (!of->rows[index].alive)
        of->rows[index] = (model_row){.alive = true, .order = of->entered++};
    return set_values(at, writer, row, &of->rows[index], random);
}

static inline int drop(const state *at, vp_writer *writer, model *of, uint32_t index)
{
    vp_row *row = find(at, writer, index);
    CHECK_EQUAL(row != NULL, of->rows[index].alive);
    if (!row)
        return 0;
    if (touch(at, writer, row))
        return VP_NO_ROOM;
    of->rows[index].alive = false;
    uint64_t *values = vp_row_values(row);
    if (vp_bytes_free(writer, at->heap, (vp_bytes *)(values + 1)) ||
        vp_bytes_free(writer, at->heap, (vp_bytes *)(values + 3)) ||
        free_inner(at, writer, values + 5, &of->rows[index]))
        return VP_NO_ROOM;
    return vp_keyed_drop(writer, at->table, at->heap, row);
}

/* A slice of changes, a part of which is taken back; the same for the same number. */
static inline int run_slice(const state *at, vp_writer *writer, model *of, uint64_t number)
{
    uint64_t random = number * 977 + 5;
    uint32_t count = random_below(&random, 60), back_from = random_below(&random, 60);
    /* Now all keys, now few of them, so that the table grows and is compacted. */
    uint32_t keys = number / 20 % 2 ? 10 : MODEL_KEYS, drops = number / 10 % 2 ? 70 : 20;
    model before = *of;
    vp_savepoint place = vp_writer_savepoint(writer);
    for (uint32_t i = 0; i < count; i++) {
        if (i == back_from) {
            before = *of;
            place = vp_writer_savepoint(writer);
        }
        uint32_t index = random_below(&random, keys);
        int fault = random_below(&random, 100) < drops ? drop(at, writer, of, index) : update(at, writer, of, index, &random);
        if (fault)
            return fault;
    }
    if (count > back_from && number % 3 == 0) {
        vp_writer_back(writer, place);
        *of = before;
    }
    return set_word(at, writer, at->slices, number + 1);
}

/* -- what must hold */

static inline void check_inner(const vp_writer *writer, const vp_keyed *inner, const model_row *of)
{
    uint64_t number = 0, length;
    CHECK_EQUAL(inner ? vp_keyed_count(inner) : 0, of->last - of->first);
    for (uint64_t expected = of->first; expected < of->last; expected++, number++) {
        vp_row *row = vp_keyed_next(writer, inner, &number);
        CHECK(row);
        CHECK_EQUAL(row->values[0], expected);
        CHECK(memcmp(vp_row_key(writer, row, &length), &expected, sizeof expected) == 0);
        CHECK(vp_keyed_find(writer, inner, expected * UINT64_C(0x9E3779B97F4A7C15), &expected, sizeof expected) == row);
    }
    CHECK(!inner || !vp_keyed_next(writer, inner, &number));
}

static inline void check_row(const state *at, const vp_writer *writer, vp_row *row, const model_row *of, uint32_t index)
{
    uint8_t key[40];
    uint64_t length = key_of(index, key), found_length;
    const uint8_t *found = vp_row_key(writer, row, &found_length);
    CHECK_EQUAL(found_length, length);
    CHECK(memcmp(found, key, length) == 0);
    CHECK_EQUAL(vp_row_hash(row), hash_of(index) & ~(uint64_t)UINT32_MAX);
    CHECK_EQUAL(row->values[0], of->number);
    const uint8_t *bytes = vp_bytes_get(writer, (const vp_bytes *)&row->values[1], &found_length);
    CHECK_EQUAL(found_length, of->length);
    CHECK(is_filled(bytes, of->length, of->seed));
    bytes = vp_bytes_get(writer, (const vp_bytes *)&row->values[3], &found_length);
    CHECK_EQUAL(found_length, of->appended);
    for (uint64_t i = 0; i < of->appended; i++)
        CHECK(bytes[i] == pattern(i));
    check_inner(writer, inner_table(at, vp_row_values(row) + 5), of);
}

static inline void check_table(const state *at, const vp_writer *writer, const model *of)
{
    static uint32_t by_order[MODEL_ROWS];
    uint64_t alive = 0, number = 0;
    CHECK(of->entered <= MODEL_ROWS);
    memset(by_order, 0, sizeof by_order);
    for (uint32_t index = 0; index < MODEL_KEYS; index++) {
        CHECK_EQUAL(find(at, writer, index) != NULL, of->rows[index].alive);
        if (of->rows[index].alive) {
            by_order[of->rows[index].order] = index + 1;
            alive++;
        }
    }
    CHECK_EQUAL(vp_keyed_count(at->table), alive);
    for (uint32_t order = 0; order < of->entered; order++) {
        if (!by_order[order])
            continue;
        vp_row *row = vp_keyed_next(writer, at->table, &number);
        CHECK(row);
        check_row(at, writer, row, &of->rows[by_order[order] - 1], by_order[order] - 1);
        number++;
    }
    CHECK(!vp_keyed_next(writer, at->table, &number));
}

/* Behind a commit: all blocks are the log's or the heap's, and settled. */
static inline void check_pool(const state *at)
{
    uint64_t heap_blocks = 0, log_blocks = 0, log_of_parts = 0;
    for (uint64_t block = 0; block < at->pool->top; block++) {
        uint64_t word = at->pool->words[block], blocks = vp_extent_blocks(word);
        if (!word)
            continue;
        CHECK_EQUAL(vp_extent_state(word), VP_SETTLED);
        *(vp_extent_owner(word) == LOG_OWNER ? &log_blocks : &heap_blocks) += blocks;
        for (uint64_t i = 1; i < blocks; i++)
            CHECK_EQUAL(at->pool->words[block + i], vp_extent(0, vp_extent_owner(word), 0));
        block += blocks - 1;
    }
    CHECK_EQUAL(heap_blocks * VP_POOL_BLOCK, vp_heap_bytes(at->heap));
    for (uint32_t part = 0; part < VP_UNDO_PARTS && at->undo->parts[part]; part++)
        log_of_parts += (VP_UNDO_FIRST * sizeof(vp_undo_entry) << part) / VP_POOL_BLOCK;
    CHECK_EQUAL(log_blocks, log_of_parts);
    CHECK_EQUAL(heap_blocks + log_blocks, vp_pool_claimed(at->pool));
}

#endif
