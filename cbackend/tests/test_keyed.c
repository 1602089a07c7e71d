/* Keyed state, in one process: slices that are committed, taken back, or cut off where there is no room. */
#include "keyed_check.h"

static state made;
static model current, committed;

static void setup(uint64_t blocks)
{
    vp_arena *arena = vp_arena_new(vp_pool_size(blocks) + (1 << 16));
    CHECK(arena);
    made = new_state(arena, blocks);
    memset(&current, 0, sizeof current);
    committed = current;
}

static void teardown(void)
{
    vp_arena_free(made.arena, made.arena->capacity);
}

static vp_writer *reopened(vp_writer *writer)
{
    vp_writer_close(writer);
    current = committed;
    return open_writer(&made);
}

static void commit(vp_writer *writer)
{
    vp_writer_commit(writer);
    committed = current;
}

static void test_slices(void)
{
    setup(4000);
    vp_writer *writer = open_writer(&made);
    for (uint64_t number = 0, goes_back = 0; number < 160; number++) {
        CHECK(run_slice(&made, writer, &current, number) == 0);
        check_table(&made, writer, &current);
        if (goes_back++ % 4 == 1) {
            writer = reopened(writer);
            check_table(&made, writer, &current);
            continue;
        }
        commit(writer);
        check_table(&made, writer, &current);
        check_pool(&made);
        CHECK_EQUAL(*made.slices, number + 1);
    }
    vp_writer_close(writer);
    teardown();
}

/* Whatever the number of blocks, a slice that finds no room changes nothing. */
static void test_no_room(void)
{
    uint32_t refused = 0;
    for (uint64_t blocks = 5; blocks < 90; blocks += 3) {
        setup(blocks);
        vp_writer *writer = open_writer(&made);
        for (uint64_t number = 0; number < 25; number++) {
            if (run_slice(&made, writer, &current, number)) {
                refused++;
                writer = reopened(writer);
            } else {
                commit(writer);
            }
            check_table(&made, writer, &current);
            check_pool(&made);
        }
        vp_writer_close(writer);
        teardown();
    }
    CHECK(refused > 10);
}

/* What is dropped can be used again: a table that comes and goes does not grow. */
static void test_used_again(void)
{
    setup(4000);
    vp_writer *writer = open_writer(&made);
    uint64_t random = 1, first = 0;
    for (uint32_t round = 0; round < 12; round++) {
        for (uint32_t index = 0; index < MODEL_KEYS; index++)
            CHECK(update(&made, writer, &current, index, &random) == 0);
        vp_writer_commit(writer);
        for (uint32_t index = 0; index < MODEL_KEYS; index++)
            CHECK(drop(&made, writer, &current, index) == 0);
        vp_writer_commit(writer);
        check_table(&made, writer, &current);
        check_pool(&made);
        if (round == 3)
            first = vp_heap_bytes(made.heap);
    }
    CHECK(vp_heap_bytes(made.heap) <= 2 * first);
    vp_writer_close(writer);
    teardown();
}

/* A slice of more words than the log's first part has room for. */
static void test_long_slice(void)
{
    setup(4000);
    vp_writer *writer = open_writer(&made);
    uint64_t at = (uint64_t)((char *)made.slices - (char *)made.arena);
    for (uint64_t i = 1; i <= 10 * VP_UNDO_FIRST; i++)
        CHECK(vp_writer_write(writer, at, i) == 0);
    CHECK_EQUAL(vp_writer_written(writer), 10 * VP_UNDO_FIRST);
    vp_savepoint middle = {.length = 5 * VP_UNDO_FIRST - 1};
    vp_writer_back(writer, middle);
    CHECK_EQUAL(*made.slices, 5 * VP_UNDO_FIRST - 1);
    CHECK(vp_writer_write(writer, at, 7) == 0);
    writer = reopened(writer);
    CHECK_EQUAL(*made.slices, 0);
    for (uint64_t i = 1; i <= 10 * VP_UNDO_FIRST; i++)
        CHECK(vp_writer_write(writer, at, i) == 0);
    vp_writer_commit(writer);
    check_pool(&made);
    vp_writer_close(writer);
    CHECK_EQUAL(*made.slices, 10 * VP_UNDO_FIRST);
    teardown();
}

int main(void)
{
    test_slices();
    test_no_room();
    test_used_again();
    test_long_slice();
    return 0;
}
