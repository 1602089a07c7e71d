/* Claimants that are killed at every named point, with pages that say how far they have come: what consumers get is what
 * they get without a death, tuple for tuple.
 *
 * Two sources bring numbers, each of which three claimants answer with none to two outputs; one consumer gets these in
 * order. Each of the five dies by itself, by a jump out of the sources of this layer, which leaves memory as it is, as a
 * kill does. The others go on meanwhile, and may die, too. All channels are short, so that outputs wait for room.
 *
 *     test_claims_exact [seed]       another sequence of deaths
 *
 * Planted, one at a time, by a definition for the compiler: CLAIM_RELEASED_AT_TAKE, CLAIM_CLEARED_FIRST,
 * OUTPUTS_NOT_COUNTED. */
#include <setjmp.h>
#include <string.h>

#include "check.h"
#include "viper/arena.h"
#include "viper/page.h"

enum { ROWS = 150, SOURCES = 2, CLAIMANTS = 3, LONGEST = 5, BLOCKS = 900, OWNERS = CLAIMANTS + 1 };
enum { SLOTS = 4, TUPLES = 16, BYTES = 256 };

typedef struct {
    int64_t ts;
    uint64_t value;
} row;

typedef struct {
    vp_writer *writer; /* NULL while it is dead */
    vp_page *page;
    vp_merge *merge;
    uint64_t skip;
    row outputs[2 * LONGEST]; /* of what it has claimed and not committed */
    uint32_t count, next;
    bool is_open;
} claimant;

static vp_arena *arena;
static vp_pool *pool;
static vp_undo *undo[CLAIMANTS];
static uint64_t pages[CLAIMANTS];
static vp_gate *inner, *outer;
static claimant made[CLAIMANTS];
static vp_merge *consumer;
static vp_positions *into;
static row brought[SOURCES][ROWS], got[2 * ROWS];
static uint32_t brought_count[SOURCES], got_count;
static uint64_t random_state;

static jmp_buf death;
static uint64_t points_left;
static uint32_t deaths, in_rewinding, open_claims, partly_out, both_dead;

static void die_some_time(const char *name)
{
    if (points_left-- != 0)
        return;
    in_rewinding += !strcmp(name, "rewind: not buried");
    longjmp(death, 1);
}

static vp_ring *ring_of(uint32_t index)
{
    return vp_gate_ring(outer, index);
}

/* -- claimants */

static vp_writer *opened(uint32_t index)
{
    uint8_t owned[OWNERS] = {0};
    owned[index + 1] = 1;
    vp_writer *writer = vp_writer_open(arena, pool, undo[index], owned, OWNERS);
    CHECK(writer);
    return writer;
}

static void begin(uint32_t index)
{
    claimant *of = &made[index];
    *of = (claimant){.writer = opened(index), .page = vp_page_new(arena, pages[index], SOURCES, 1)};
    of->merge = vp_merge_new(inner, index);
    vp_page_read(of->page, 0, inner, index);
    of->skip = vp_page_feed(of->page, 0, ring_of(index));
}

/* Its private memory is gone with its process. */
static void forget(uint32_t index)
{
    claimant *of = &made[index];
    vp_writer_abandon(of->writer);
    vp_page_free(of->page);
    vp_merge_free(of->merge);
    of->writer = NULL;
}

/* As whoever finds one dead does; dies on the way behind so many points, and does it again. */
static void reclaim(uint32_t index, uint64_t points)
{
    vp_writer_close(opened(index)); /* plays its log back */
    vp_page *page = vp_page_new(arena, pages[index], SOURCES, 1);
    bool is_open = vp_page_taken_of_claim(page, 0, inner, index) > 0;
    open_claims += is_open;
    partly_out += is_open && vp_page_feed(page, 0, ring_of(index)) > 0;
    points_left = points;
    for (volatile int turn = 0; turn < 2; turn++) {
        at_point = turn ? NULL : die_some_time;
        if (setjmp(death))
            continue;
        vp_ring_recover(ring_of(index));
        vp_gate_rewind_reader(inner, index, page, 0);
    }
    at_point = NULL;
    CHECK_EQUAL(vp_page_taken_of_claim(page, 0, inner, index), 0); /* the successor has taken nothing as yet */
    vp_page_free(page);
}

/* Adds a row, unless it is one that the consumer has; false while there is no room. */
static bool hand_over(claimant *of, vp_ring *ring, row output)
{
    if (of->skip) {
        of->skip = vp_page_skip(of->page, 0, 1);
#ifndef OUTPUTS_NOT_COUNTED
        return true;
#endif
    }
    vp_position position = at(output.ts);
    vp_positions positions = {.data = &position, .length = 1, .capacity = 1};
    int64_t slot = vp_ring_claim(ring, &positions, 0, 1, sizeof output);
    if (slot == VP_FULL)
        return false;
    CHECK(slot >= 0);
    vp_ring_write(ring, (uint32_t)slot, &output);
    CHECK(vp_ring_publish(ring));
    return true;
}

static void commit(claimant *of)
{
    int noted = vp_page_note(of->page, of->writer);
    CHECK(noted >= 0);
    if (noted)
        vp_writer_commit(of->writer);
}

/* Claims some numbers, and answers them; whether there were any. */
static bool take(claimant *of)
{
    vp_run runs[LONGEST];
    into->length = of->count = of->next = 0;
    uint64_t limit = 1 + random_below(&random_state, LONGEST);
    int64_t count = vp_merge_take(of->merge, into, limit, runs, LONGEST);
    CHECK(count >= 0);
#ifdef CLAIM_RELEASED_AT_TAKE
    vp_merge_release(of->merge);
#endif
    for (int64_t run = 0; run < count; run++) {
        const row *rows = vp_ring_payload(vp_gate_ring(inner, runs[run].source), runs[run].slot, NULL);
        for (uint32_t i = runs[run].first; i < runs[run].first + runs[run].count; i++)
            for (uint64_t nth = 0; nth < rows[i].value % 3; nth++)
                of->outputs[of->count++] = (row){rows[i].ts, 10 * rows[i].value + nth};
    }
#ifdef CLAIM_CLEARED_FIRST
    commit(of);
#endif
    return count > 0;
}

/* What a claimant does at a time: as much as there is room for. */
static void go_on(uint32_t index)
{
    claimant *of = &made[index];
    if (!of->is_open) {
        commit(of); /* nothing, but what others have claimed, or a successor has passed */
        of->is_open = take(of);
    }
    for (; of->next < of->count; of->next++)
        if (!hand_over(of, ring_of(index), of->outputs[of->next]))
            return;
    if (of->is_open)
        commit(of);
    of->is_open = false;
    vp_merge_release(of->merge); /* what others have claimed, too */
    heartbeat(ring_of(index), vp_merge_frontier(of->merge));
    if (vp_merge_drained(of->merge))
        vp_ring_close(ring_of(index));
}

/* -- sources and the consumer */

/* Brings a few numbers as one jumbo tuple, if there is room; the ring says how many there were. */
static void bring(uint32_t source)
{
    vp_ring *ring = vp_gate_ring(inner, source);
    uint64_t first = vp_gate_added(inner, source).added_tuples, left = brought_count[source] - first;
    uint64_t count = 1 + random_below(&random_state, 3);
    count = count < left ? count : left;
    vp_position data[3];
    for (uint64_t i = 0; i < count; i++)
        data[i] = at(brought[source][first + i].ts);
    vp_positions positions = {.data = data, .length = count, .capacity = count};
    int64_t slot = count ? vp_ring_claim(ring, &positions, 0, count, count * sizeof(row)) : VP_FULL;
    if (slot >= 0) {
        vp_ring_write(ring, (uint32_t)slot, &brought[source][first]);
        CHECK(vp_ring_publish(ring));
        first += count;
    }
    if (first == brought_count[source])
        vp_ring_close(ring);
    else
        heartbeat(ring, at(brought[source][first].ts));
}

static void consume(uint64_t limit)
{
    vp_run runs[LONGEST];
    into->length = 0;
    int64_t count = vp_merge_take(consumer, into, limit, runs, LONGEST);
    for (int64_t i = 0; i < count; i++) {
        CHECK_EQUAL(runs[i].count, 1);
        CHECK(got_count < 2 * ROWS);
        got[got_count++] = *(row *)vp_ring_payload(ring_of(runs[i].source), runs[i].slot, NULL);
    }
    vp_merge_release(consumer);
}

/* -- whole runs */

static void set_up(void)
{
    vp_gate_shape in = {SOURCES, CLAIMANTS, SLOTS, TUPLES, BYTES, true};
    vp_gate_shape out = {CLAIMANTS, 1, SLOTS, TUPLES, BYTES, false};
    arena = vp_arena_new(vp_pool_size(BLOCKS) + vp_gate_size(in) + vp_gate_size(out) + (1 << 16));
    CHECK(arena);
    pool = vp_pool_format(arena, vp_arena_allocate(arena, vp_pool_size(BLOCKS)), BLOCKS);
    inner = vp_gate_format(arena, vp_arena_allocate(arena, vp_gate_size(in)), in);
    outer = vp_gate_format(arena, vp_arena_allocate(arena, vp_gate_size(out)), out);
    consumer = vp_merge_new(outer, 0);
    got_count = 0;
    for (uint32_t i = 0; i < CLAIMANTS; i++) {
        undo[i] = vp_undo_format(arena, vp_arena_allocate(arena, vp_undo_size()), i + 1);
        pages[i] = vp_arena_allocate(arena, vp_page_size(SOURCES, 1));
        begin(i);
    }
}

static void tear_down(void)
{
    for (uint32_t i = 0; i < CLAIMANTS; i++)
        forget(i);
    vp_merge_free(consumer);
    vp_arena_free(arena, arena->capacity);
}

static void check_got(void)
{
    uint32_t count = 0;
    for (uint64_t value = 0; value < ROWS; value++)
        for (uint64_t nth = 0; nth < value % 3; nth++, count++) {
            CHECK(count < got_count);
            CHECK_EQUAL(got[count].value, 10 * value + nth);
        }
    CHECK_EQUAL(got_count, count);
}

/* Somebody has died at a point; another finds that out. */
static void died(uint32_t who)
{
    deaths++;
    if (who >= CLAIMANTS) {
        vp_ring_recover(vp_gate_ring(inner, who - CLAIMANTS));
        return;
    }
    for (uint32_t i = 0; i < CLAIMANTS; i++)
        both_dead += i != who && !made[i].writer;
    forget(who);
    reclaim(who, random_below(&random_state, 30));
}

/* Whether anybody died, where the first dies behind so many points. `again` is the number of points to the next death at
 * most; 0: there is no other one. */
static bool run(uint64_t points, uint32_t again)
{
    static volatile uint64_t left;
    static volatile uint32_t who, steps, died_before;
    set_up();
    left = points;
    steps = died_before = 0;
    while (!vp_merge_drained(consumer)) {
        CHECK(steps++ < 400 * ROWS); /* else somebody waits for what does not come */
        who = random_below(&random_state, CLAIMANTS + SOURCES + 1);
        if (who == CLAIMANTS + SOURCES) {
            consume(1 + random_below(&random_state, LONGEST));
            continue;
        }
        points_left = left;
        if (setjmp(death)) {
            at_point = NULL;
            died(who);
            died_before++;
            left = again ? random_below(&random_state, again) : UINT64_MAX;
            continue;
        }
        if (who < CLAIMANTS && !made[who].writer) {
            if (random_below(&random_state, 4) == 0)
                begin(who);
            continue;
        }
        at_point = die_some_time;
        if (who < CLAIMANTS)
            go_on(who);
        else
            bring(who - CLAIMANTS);
        at_point = NULL;
        left = points_left;
    }
    for (uint32_t i = 0; i < CLAIMANTS; i++)
        if (!made[i].writer)
            begin(i);
    tear_down();
    return died_before > 0;
}

int main(int argc, char **argv)
{
    random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_claims_exact %llu\n", (unsigned long long)random_state);
    fflush(stdout);
    into = vp_positions_new();
    for (uint64_t value = 0; value < ROWS; value++) {
        uint64_t source = random_below(&random_state, SOURCES);
        brought[source][brought_count[source]++] = (row){(int64_t)value, value};
    }
    CHECK(!run(UINT64_MAX, 0));
    check_got();
    for (uint64_t points = 0; run(points, 0); points += 1 + points / 64)
        check_got();
    for (uint32_t round = 0; round < 300; round++) {
        run(random_below(&random_state, 2000), 40 + random_below(&random_state, 900));
        check_got();
    }
    CHECK(deaths > 500);
    CHECK(in_rewinding && open_claims && partly_out && both_dead);
    vp_positions_free(into);
    return 0;
}
