/* Tasks that are killed at every named point of a change to their state, and successors that are killed while they
 * go back: whoever opens the state next finds it as at the last commit, and goes on; and whatever has changed since the
 * last checkpoint is marked.
 *
 *     test_keyed_crash [seed]       another sequence of deaths
 */
#include "dying.h"
#include "keyed_check.h"

enum { SLICES = 120, BLOCKS = 3000, RANDOM_DEATHS = 400 };

static const char *const POINTS[] = {
    "pool: claiming", "pool: giving",  "write: noted",  "write: counted",  "write: written",
    "grow: claimed",  "grow: known",   "back: written", "commit: not yet", "commit: done", "append: copied",
    "changes: counted", "changes: marked", "changes: copied", "changes: joined", "changes: emptied", "changes: settled",
    "changes: turned",
};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS };

static state shared;
static uint64_t *checkpoint; /* behind so many slices the last one was made; it belongs to no process that dies */

/* What is there behind so many slices: the model, and by key the number of its row. */
typedef struct {
    model rows;
    uint64_t numbers[MODEL_KEYS];
} moment;

static void note_numbers(const state *alone, const vp_writer *writer, moment *of)
{
    for (uint32_t index = 0; index < MODEL_KEYS; index++)
        if (of->rows.rows[index].alive)
            of->numbers[index] = vp_row_number(find(alone, writer, index));
}

static const moment *moment_at(uint64_t slices)
{
    static moment moments[SLICES + 1];
    static uint64_t known;
    if (!known) {
        vp_arena *arena = vp_arena_new(vp_pool_size(BLOCKS) + (1 << 16));
        CHECK(arena);
        state alone = new_state(arena, BLOCKS);
        vp_writer *writer = open_writer(&alone);
        for (; known < SLICES; known++) {
            moments[known + 1] = moments[known];
            CHECK(run_slice(&alone, writer, &moments[known + 1].rows, known) == 0);
            vp_writer_commit(writer);
            note_numbers(&alone, writer, &moments[known + 1]);
        }
        vp_writer_close(writer);
        vp_arena_free(arena, arena->capacity);
    }
    return &moments[slices];
}

/* Behind some slices a snapshot is begun, and most of these become a checkpoint. */
static void cut(vp_writer *writer, uint64_t slices)
{
    if (slices % 3)
        return;
    vp_changes_settle(writer, shared.changes, *checkpoint);
    vp_changes_cut(shared.changes, slices, 0);
    if (slices % 4)
        *checkpoint = slices;
}

/* Whether the next checkpoint has the row of a number, as it may have changed. */
static bool is_to_be_written(const vp_writer *writer, uint64_t number)
{
    const vp_changes *changes = shared.changes;
    bool is_settled = changes->attempt == *checkpoint;
    const vp_saved *saved = is_settled ? &changes->tried : &changes->saved;
    if (saved->generation != changes->generation)
        return true;
    const vp_word *marked = vp_changes_map(writer, changes, changes->current) + number / 64;
    return number / 64 < changes->words &&
           ((*marked >> number % 64 & 1) || (!is_settled && vp_changes_had(writer, changes, number)));
}

static bool is_same(const model_row *one, const model_row *other)
{
    return one->alive == other->alive && (!one->alive || memcmp(one, other, sizeof *one) == 0);
}

static void check_changes(const vp_writer *writer)
{
    const moment *before = moment_at(*checkpoint), *now = moment_at(*shared.slices);
    for (uint32_t index = 0; index < MODEL_KEYS && *checkpoint; index++) {
        if (is_same(&before->rows.rows[index], &now->rows.rows[index]))
            continue;
        CHECK(!before->rows.rows[index].alive || is_to_be_written(writer, before->numbers[index]));
        CHECK(!now->rows.rows[index].alive || is_to_be_written(writer, now->numbers[index]));
    }
}

/* Goes on from wherever the one before came to. */
static void go_on(void)
{
    vp_writer *writer = open_writer(&shared);
    for (uint64_t number = *shared.slices; number < SLICES; number++) {
        model of = moment_at(number)->rows;
        CHECK(run_slice(&shared, writer, &of, number) == 0);
        vp_writer_commit(writer);
        cut(writer, number + 1);
    }
    vp_writer_close(writer);
}

/* Whether a process that goes on died at a point, passed so often. */
static bool dies(const char *point, uint64_t passes)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        die_at(point, passes);
        go_on();
        _exit(0);
    }
    return has_died(child);
}

static void check_all(void)
{
    vp_writer *writer = open_writer(&shared);
    CHECK(*shared.slices <= SLICES);
    check_table(&shared, writer, &moment_at(*shared.slices)->rows);
    check_changes(writer);
    check_pool(&shared);
    vp_writer_close(writer);
}

static void begin_again(void)
{
    uint64_t capacity = vp_pool_size(BLOCKS) + (1 << 16);
    if (shared.arena)
        vp_arena_free(shared.arena, capacity);
    vp_arena *arena = shared_arena(capacity);
    shared = new_state(arena, BLOCKS);
    checkpoint = vp_arena_at(arena, vp_arena_allocate(arena, sizeof *checkpoint));
}

static void test_every_point(void)
{
    static const uint64_t passes[] = {0, 1, 7, 100};
    for (uint32_t point = 0; point < POINT_COUNT; point++) {
        uint32_t deaths = 0;
        for (uint32_t i = 0; i < sizeof passes / sizeof *passes; i++) {
            begin_again();
            deaths += dies(POINTS[point], passes[i]);
            check_all();
        }
        CHECK(deaths);
    }
}

static void test_random_deaths(uint64_t seed)
{
    uint64_t random = seed;
    begin_again();
    for (uint32_t deaths = 0; deaths < RANDOM_DEATHS;) {
        const char *point = POINTS[random_below(&random, POINT_COUNT)];
        uint64_t passes = random_below(&random, 8) ? random_below(&random, 400) : 0;
        if (dies(point, passes))
            deaths++;
        if (random_below(&random, 3)) /* else the next one finds what is there */
            check_all();
        if (*shared.slices == SLICES)
            begin_again();
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_keyed_crash %llu\n", (unsigned long long)seed);
    fflush(stdout);
    moment_at(0);
    test_every_point();
    test_random_deaths(seed);
    return 0;
}
