/* Tasks that are killed at every named point, and successors that repeat what was not committed: what consumers get is
 * what they get without a death, tuple for tuple.
 *
 * A source counts; a task in the middle has one to three outputs for each input, with a running number, and deals them
 * out to two consumers in turn. All of this, but the consumers, dies together: by a jump out of the sources, which
 * leaves memory as it is, as a kill does.
 *
 *     test_page [seed]       another sequence of deaths
 *
 * Planted, one at a time, by a definition for the compiler: RELEASE_AT_TAKE, COMMIT_FIRST, BY_POSITION,
 * DEALT_ANEW. */
#include <setjmp.h>
#include <string.h>

#include "check.h"
#include "viper/arena.h"
#include "viper/page.h"
#include "writer.h"

enum { ROWS = 300, CONSUMERS = 2, BLOCKS = 600, MOST = 4 * ROWS };
enum { SLOTS = 4, TUPLES = 8, BYTES = 256 };

typedef struct {
    int64_t ts;
    uint64_t value;
} row;

/* What one consumer got. */
typedef struct {
    row rows[MOST];
    uint32_t count;
} received;

/* The words of the task in the middle beside its page. */
typedef struct {
    _Atomic uint64_t total, dealt;
} words;

static vp_arena *arena;
static vp_pool *pool;
static vp_undo *undo[2];
static uint64_t pages[2], offset; /* of the source's task and of the one in the middle; the words */
static vp_gate *inner, *outer[CONSUMERS];
static vp_merge *consumers[CONSUMERS];
static received got[CONSUMERS], expected[CONSUMERS];
static vp_positions *into;
static uint64_t random_state;

static jmp_buf death;
static uint64_t points_left;
static uint32_t deaths, in_rewinding;

static void die_some_time(const char *name)
{
    if (points_left-- != 0)
        return;
    in_rewinding += !strcmp(name, "rewind: told");
    longjmp(death, 1);
}

/* -- a task that goes on where another one was killed */

typedef struct {
    vp_writer *writer;
    vp_page *page;
    uint64_t skip[CONSUMERS];
    vp_position floor[CONSUMERS]; /* what is known when it begins */
    vp_merge *merge;
} task;

static task made[2];

static vp_ring *ring_of(uint32_t consumer)
{
    return vp_gate_ring(outer[consumer], 0);
}

static words *own(void)
{
    return (words *)((char *)arena + offset);
}

static void begin_tasks(void)
{
    static const uint8_t owned[2][3] = {{0, 1, 0}, {0, 0, 1}};
    for (uint32_t i = 0; i < 2; i++) {
        made[i] = (task){.writer = vp_writer_open(arena, pool, undo[i], owned[i], 3),
                         .page = vp_page_new(arena, pages[i], 1, CONSUMERS)};
        CHECK(made[i].writer && made[i].page);
    }
    made[0].skip[0] = vp_page_feed(made[0].page, 0, vp_gate_ring(inner, 0));
    made[1].merge = vp_merge_new(inner, 0);
    vp_page_read(made[1].page, 0, inner, 0);
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        made[1].skip[i] = vp_page_feed(made[1].page, i, ring_of(i));
        made[1].floor[i] = vp_ring_floor(ring_of(i));
    }
}

/* Their private memory is gone with their process. */
static void forget_tasks(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        free(made[i].writer->freed);
        free(made[i].writer->claimed);
        free(made[i].writer);
        vp_page_free(made[i].page);
    }
    vp_merge_free(made[1].merge);
}

static void set_right(const vp_page *page)
{
    vp_ring_recover(vp_gate_ring(inner, 0));
    for (uint32_t i = 0; i < CONSUMERS; i++)
        vp_ring_recover(ring_of(i));
    vp_gate_rewind_reader(inner, 0, page, 0);
}

/* As whoever finds them dead does; dies on the way behind so many points, and does it again. */
static void reclaim(uint32_t points)
{
    static const uint8_t owned[2][3] = {{0, 1, 0}, {0, 0, 1}};
    for (uint32_t i = 0; i < 2; i++) {
        vp_writer *writer = vp_writer_open(arena, pool, undo[i], owned[i], 3);
        CHECK(writer);
        vp_writer_close(writer);
    }
    vp_page *page = vp_page_new(arena, pages[1], 1, CONSUMERS);
    points_left = points;
    at_point = die_some_time;
    if (!setjmp(death))
        set_right(page);
    at_point = NULL;
    set_right(page);
    vp_page_free(page);
}

/* -- what the tasks do */

/* Adds a row, unless it is one that the consumers have; false while there is no room. */
static bool hand_over(task *of, uint32_t output, vp_ring *ring, row made_row)
{
    vp_position position = at(made_row.ts);
#ifdef BY_POSITION
    if (of == &made[1] && vp_compare(position, of->floor[output]) <= 0)
        return true;
#else
    if (of->skip[output]) {
        of->skip[output] = vp_page_skip(of->page, output, 1);
        return true;
    }
#endif
    vp_positions positions = {.data = &position, .length = 1, .capacity = 1};
    int64_t slot = vp_ring_claim(ring, &positions, 0, 1, sizeof made_row);
    if (slot == VP_FULL)
        return false;
    CHECK(slot >= 0);
    vp_ring_write(ring, (uint32_t)slot, &made_row);
    CHECK(vp_ring_publish(ring));
    return true;
}

static void consume(uint32_t consumer)
{
    vp_run runs[SLOTS];
    into->length = 0;
    int64_t count = vp_merge_take(consumers[consumer], into, 1 + random_below(&random_state, 5), runs, SLOTS);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bytes;
        CHECK_EQUAL(runs[i].count, 1);
        row *next = &got[consumer].rows[got[consumer].count++];
        CHECK(got[consumer].count <= MOST);
        *next = *(row *)vp_ring_payload(ring_of(consumer), runs[i].slot, &bytes);
        CHECK_EQUAL(bytes, sizeof *next);
        CHECK_EQUAL(next->ts, into->data[i].ts);
    }
    vp_merge_release(consumers[consumer]);
}

static void make_room(uint32_t consumer)
{
    void (*before)(const char *) = at_point; /* consumers do not die */
    at_point = NULL;
    consume(consumer);
    at_point = before;
}

static void commit(task *of)
{
    int noted = vp_page_note(of->page, of->writer);
    CHECK(noted >= 0);
    if (noted)
        vp_writer_commit(of->writer);
}

/* Of every two rows that follow one another one has the timestamp of the one before. */
static int64_t time_of(uint64_t number)
{
    return (int64_t)(number / 2);
}

/* Brings a few rows; the page says how many there were. */
static void bring(void)
{
    task *of = &made[0];
    uint64_t first = vp_page_handed_over(of->page, 0), count = 1 + random_below(&random_state, 4), number = first;
    for (; number < first + count && number < ROWS; number++)
        if (!hand_over(of, 0, vp_gate_ring(inner, 0), (row){time_of(number), number}))
            break;
    commit(of);
    if (number == ROWS)
        vp_ring_close(vp_gate_ring(inner, 0));
    else
        heartbeat(vp_gate_ring(inner, 0), at(time_of(number)));
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
    CHECK(vp_writer_write(made[1].writer, (uint64_t)((char *)word - (char *)arena), value) == 0);
}

static void process(row in, uint64_t *dealt)
{
    task *of = &made[1];
    for (uint64_t i = 0; i <= in.value % 3; i++) {
        set(&own()->total, own()->total + 1);
        uint32_t consumer = (uint32_t)((*dealt)++ % CONSUMERS);
        row out = {in.ts, own()->total * 1000 + in.value};
        while (!hand_over(of, consumer, ring_of(consumer), out))
            make_room(consumer);
    }
}

/* A slice; false once all of its input has come. */
static bool go_on(uint64_t *dealt)
{
    task *of = &made[1];
    row rows[TUPLES];
    vp_run runs[SLOTS];
    into->length = 0;
    int64_t count = vp_merge_take(of->merge, into, 1 + random_below(&random_state, TUPLES / 2), runs, SLOTS);
    for (int64_t i = 0; i < count; i++)
        rows[i] = *(row *)vp_ring_payload(vp_gate_ring(inner, 0), runs[i].slot, NULL);
#ifdef RELEASE_AT_TAKE
    vp_merge_release(of->merge);
#endif
#ifdef COMMIT_FIRST
    commit(of);
#endif
    for (int64_t i = 0; i < count; i++)
        process(rows[i], dealt);
#ifndef DEALT_ANEW
    if (own()->dealt != *dealt)
        set(&own()->dealt, *dealt);
#endif
    commit(of);
    vp_merge_release(of->merge);
    vp_position frontier = vp_merge_frontier(of->merge);
    for (uint32_t i = 0; i < CONSUMERS; i++)
        heartbeat(ring_of(i), frontier);
    return !vp_merge_drained(of->merge);
}

/* What one process does until it dies, or all is done. */
static bool live(void)
{
    uint64_t dealt = own()->dealt;
    do {
        bring();
        make_room(random_below(&random_state, CONSUMERS));
    } while (go_on(&dealt));
    return true;
}

/* -- whole runs */

static void set_up(void)
{
    uint64_t gate_size[2];
    vp_gate_shape shape = {1, 1, SLOTS, TUPLES, BYTES, false};
    gate_size[0] = gate_size[1] = vp_gate_size(shape);
    uint64_t capacity = vp_pool_size(BLOCKS) + 3 * gate_size[0] + (1 << 16);
    arena = vp_arena_new(capacity);
    CHECK(arena);
    uint64_t pool_at = vp_arena_allocate(arena, vp_pool_size(BLOCKS));
    pool = vp_pool_format(arena, pool_at, BLOCKS);
    for (uint32_t i = 0; i < 2; i++) {
        undo[i] = vp_undo_format(arena, vp_arena_allocate(arena, vp_undo_size()), i + 1);
        pages[i] = vp_arena_allocate(arena, vp_page_size(1, CONSUMERS));
    }
    offset = vp_arena_allocate(arena, sizeof(words));
    inner = vp_gate_format(arena, vp_arena_allocate(arena, gate_size[0]), shape);
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        outer[i] = vp_gate_format(arena, vp_arena_allocate(arena, gate_size[1]), shape);
        consumers[i] = vp_merge_new(outer[i], 0);
        got[i].count = 0;
    }
}

static void tear_down(void)
{
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        while (!vp_merge_drained(consumers[i]))
            consume(i);
        vp_merge_free(consumers[i]);
    }
    vp_arena_free(arena, arena->capacity);
}

static void check_received(void)
{
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        CHECK_EQUAL(got[i].count, expected[i].count);
        for (uint32_t n = 0; n < got[i].count; n++) {
            CHECK_EQUAL(got[i].rows[n].ts, expected[i].rows[n].ts);
            CHECK_EQUAL(got[i].rows[n].value, expected[i].rows[n].value);
        }
    }
}

/* Whether it died at all, where it dies for the first time behind so many points. `again` is the number of points to its
 * next death at most; 0: there is no other one. */
static bool run(uint64_t points, uint32_t again)
{
    static volatile bool died, is_done;
    died = is_done = false;
    set_up();
    points_left = points;
    do {
        begin_tasks();
        at_point = died && !again ? NULL : die_some_time;
        if (!setjmp(death))
            is_done = live();
        at_point = NULL;
        forget_tasks();
        if (!is_done) {
            died = true;
            deaths++;
            reclaim(random_below(&random_state, 60));
            points_left = random_below(&random_state, again ? again : 1);
        }
    } while (!is_done);
    tear_down();
    return died;
}

int main(int argc, char **argv)
{
    random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_page %llu\n", (unsigned long long)random_state);
    fflush(stdout);
    into = vp_positions_new();
    CHECK(!run(UINT64_MAX, 0));
    memcpy(expected, got, sizeof got);
    CHECK_EQUAL(got[0].count + got[1].count, 2 * ROWS);
    for (uint64_t points = 0; run(points, 0); points += 1 + points / 64)
        check_received();
    for (uint32_t round = 0; round < 100; round++) {
        CHECK(run(random_below(&random_state, 2000), 900));
        check_received();
    }
    CHECK(deaths > 500);
    CHECK(in_rewinding);
    vp_positions_free(into);
    return 0;
}
