/* Snapshots that are written while their table changes: what a checkpoint and the changes behind it tell of each row is
 * what the row was when the last of them was begun.
 *
 *     test_snapshot [seed]       other moments of beginning, writing and giving up
 */
#include "keyed_check.h"

enum { BLOCKS = 4000, SLICES = 400, NUMBERS = 20000, ENOUGH = 5 };

/* By number what rows are: a hash of all that they hold, 0 of one that is not there. */
typedef struct {
    uint64_t rows[NUMBERS];
} image;

static state made;
static vp_writer *writer;
static model current, committed;
static vp_snapshot snapshot;
static image last, attempt, expected; /* a checkpoint; one that is being written; and what that one is to tell */
static uint64_t last_id, attempt_id, saved_rows;
static uint64_t checkpoints, given_up, moved; /* how many there were; compactions with rows pending */

static uint64_t mixed(uint64_t hash, const void *data, uint64_t length)
{
    const uint8_t *bytes = data;
    for (uint64_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash ^ length;
}

static uint64_t hash_of_row(vp_row *row)
{
    uint64_t *values = vp_row_values(row), length, number = 0, hash = UINT64_C(14695981039346656037);
    const uint8_t *bytes = vp_row_key(writer, row, &length);
    hash = mixed(mixed(hash, bytes, length), values, sizeof *values);
    for (int word = 1; word < 5; word += 2) {
        bytes = vp_bytes_get(writer, (const vp_bytes *)(values + word), &length);
        hash = mixed(hash, bytes, length);
    }
    const vp_keyed *inner = inner_table(&made, values + 5);
    for (vp_row *entry; inner && (entry = vp_keyed_next(writer, inner, &number)); number++)
        hash = mixed(hash, vp_row_values(entry), sizeof *values);
    return hash | 1;
}

static int save(void *context, vp_row *row, uint64_t number)
{
    (void)context;
    CHECK(number < NUMBERS);
    attempt.rows[number] = row ? hash_of_row(row) : 0;
    saved_rows++;
    return 0;
}

/* The same for a few rows at a time. */
static int save_some(void *context, vp_row *row, uint64_t number)
{
    uint64_t *left = context;
    CHECK(save(NULL, row, number) == 0);
    return --*left == 0;
}

static void begin(uint64_t id)
{
    vp_row *row;
    vp_changes_settle(writer, made.changes, last_id);
    bool is_whole = vp_changes_are_unknown(made.changes) || last_id == 0;
    vp_changes_cut(made.changes, id, 0);
    vp_snapshot_begin(&snapshot, made.table, is_whole);
    attempt_id = id;
    saved_rows = 0;
    attempt = last;
    if (is_whole)
        memset(&attempt, 0, sizeof attempt);
    memset(&expected, 0, sizeof expected);
    for (uint64_t number = 0; (row = vp_keyed_next(writer, made.table, &number)); number++)
        expected.rows[number] = hash_of_row(row);
}

static void give_up(void)
{
    vp_snapshot_end(&snapshot);
    attempt_id = 0;
}

/* Writes a few rows; with the last of them, the attempt has become a checkpoint. */
static void write_some(uint64_t count)
{
    CHECK(vp_snapshot_walk(&snapshot, writer, made.table, made.changes, save_some, &count) == 0);
    if (vp_snapshot_is_pending(&snapshot))
        return;
    for (uint64_t number = 0; number < NUMBERS; number++)
        CHECK_EQUAL(attempt.rows[number], expected.rows[number]);
    last = attempt;
    last_id = attempt_id;
    attempt_id = 0;
}

static void setup(void)
{
    vp_arena *arena = vp_arena_new(vp_pool_size(BLOCKS) + (1 << 16));
    CHECK(arena);
    made = new_state(arena, BLOCKS);
    made.snapshot = &snapshot;
    made.save = save;
    writer = open_writer(&made);
    memset(&current, 0, sizeof current);
    memset(&last, 0, sizeof last);
    committed = current;
    last_id = attempt_id = 0;
}

/* The slice is committed, goes back, or goes on with another process, which knows of no attempt. */
static void end_slice(uint32_t how)
{
    if (how == 0) {
        vp_writer_back(writer, (vp_savepoint){0, 0, 0});
        current = committed;
    } else if (how == 1) {
        give_up();
        vp_writer_close(writer);
        writer = open_writer(&made);
        current = committed;
    } else {
        vp_writer_commit(writer);
        committed = current;
    }
}

/* Takes half of the keys out and enters them anew, so that the table is compacted now and then. */
static void renew(uint64_t *random)
{
    for (uint32_t index = 0; index < MODEL_KEYS; index += 2)
        CHECK(drop(&made, writer, &current, index) == 0 && update(&made, writer, &current, index, random) == 0);
}

static void test_slices(uint64_t seed)
{
    uint64_t random = seed;
    setup();
    for (uint64_t slice = 0; slice < SLICES; slice++) {
        if (attempt_id == 0 && random_below(&random, 3) == 0)
            begin(slice + 1);
        uint64_t generation = made.changes->generation;
        bool was_pending = vp_snapshot_is_pending(&snapshot);
        CHECK(run_slice(&made, writer, &current, slice % 160) == 0);
        moved += was_pending && made.changes->generation != generation;
        if (random_below(&random, 3) == 0)
            renew(&random);
        end_slice(random_below(&random, 12));
        uint64_t before = last_id;
        if (attempt_id && random_below(&random, 9) == 0) {
            give_up();
            given_up++;
        } else if (attempt_id && random_below(&random, 2)) {
            write_some(1 + random_below(&random, ENOUGH));
        }
        checkpoints += last_id != before;
        check_table(&made, writer, &current);
    }
    vp_snapshot_end(&snapshot);
    vp_writer_close(writer);
    vp_arena_free(made.arena, made.arena->capacity);
}

/* Of many rows, only those that have changed are written. */
static void test_few_changes(void)
{
    setup();
    uint64_t random = 1;
    for (uint32_t index = 0; index < MODEL_KEYS; index++)
        CHECK(update(&made, writer, &current, index, &random) == 0);
    vp_writer_commit(writer);
    begin(1);
    while (attempt_id)
        write_some(ENOUGH);
    CHECK_EQUAL(saved_rows, MODEL_KEYS);
    for (uint32_t index = 7; index < 10; index++)
        CHECK(update(&made, writer, &current, index, &random) == 0);
    CHECK(drop(&made, writer, &current, 3) == 0);
    vp_writer_commit(writer);
    CHECK_EQUAL(vp_changes_count(made.changes), 4);
    begin(2);
    while (attempt_id)
        write_some(ENOUGH);
    CHECK_EQUAL(saved_rows, 4);
    begin(3);
    CHECK(update(&made, writer, &current, 5, &random) == 0);
    while (attempt_id)
        write_some(ENOUGH);
    CHECK_EQUAL(saved_rows, 0);
    vp_writer_close(writer);
    vp_arena_free(made.arena, made.arena->capacity);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_snapshot %llu\n", (unsigned long long)seed);
    fflush(stdout);
    test_few_changes();
    for (uint64_t i = 0; i < 4; i++)
        test_slices(seed + i);
    CHECK(checkpoints > 40 && given_up > 10 && moved > 10);
    return 0;
}
