/* The merge on one thread. */
#include "check.h"

enum { MAX_SOURCES = 9, MAX_RUNS = 64 };

typedef struct {
    vp_gate *gate;
    vp_ring *rings[MAX_SOURCES];
    vp_merge *merge;
    vp_positions *into;
    vp_run runs[MAX_RUNS];
} fixture;

static fixture set_up(uint32_t count)
{
    fixture f = {.gate = new_gate((vp_gate_shape){count, 1, 8, 64, 0, false}), .into = vp_positions_new()};
    for (uint32_t i = 0; i < count; i++)
        f.rings[i] = vp_gate_ring(f.gate, i);
    f.merge = vp_merge_new(f.gate, 0);
    return f;
}

static void tear_down(fixture *f)
{
    vp_merge_free(f->merge);
    vp_positions_free(f->into);
    free(f->gate);
}

static void expect_run(vp_run run, uint32_t source, uint32_t slot, uint32_t first, uint32_t count)
{
    CHECK_EQUAL(run.source, source);
    CHECK_EQUAL(run.slot, slot);
    CHECK_EQUAL(run.first, first);
    CHECK_EQUAL(run.count, count);
}

static void test_one_source_goes_whole(void)
{
    fixture f = set_up(1);
    CHECK_EQUAL(vp_merge_holding(f.merge), 0);
    CHECK_EQUAL(vp_merge_next(f.merge), 0);
    CHECK(add(f.rings[0], 1, 5) >= 0 && add(f.rings[0], 6, 3) >= 0);
    CHECK_EQUAL(vp_merge_next(f.merge), 5);
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 7, f.runs, MAX_RUNS), 2);
    expect_run(f.runs[0], 0, 0, 0, 5);
    expect_run(f.runs[1], 0, 1, 0, 2);
    CHECK_EQUAL(vp_merge_next(f.merge), 1);
    vp_merge_release(f.merge);
    CHECK_EQUAL(vp_gate_delivered(f.gate, 0, 0).waiting_jumbos, 1);
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 7, f.runs, MAX_RUNS), 1);
    expect_run(f.runs[0], 0, 1, 2, 1);
    vp_merge_release(f.merge);
    CHECK_EQUAL(vp_gate_delivered(f.gate, 0, 0).waiting_jumbos, 0);
    tear_down(&f);
}

static void test_a_source_that_has_not_spoken_holds(void)
{
    fixture f = set_up(3);
    CHECK(add(f.rings[0], 1, 3) >= 0 && add(f.rings[2], 2, 3) >= 0);
    CHECK(!vp_merge_ready(f.merge));
    CHECK_EQUAL(vp_merge_holding(f.merge), 1);
    CHECK_EQUAL(vp_compare(vp_merge_frontier(f.merge), VP_LEAST), 0);
    heartbeat(f.rings[1], at(2));
    CHECK(vp_merge_ready(f.merge));
    CHECK_EQUAL(vp_merge_holding(f.merge), -1);
    /* 1 and 2 of source 0, which goes before source 1 at 2; source 2 goes behind it. */
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 100, f.runs, MAX_RUNS), 1);
    expect_run(f.runs[0], 0, 0, 0, 2);
    CHECK_EQUAL(vp_merge_holding(f.merge), 1);
    CHECK_EQUAL(vp_merge_frontier(f.merge).ts, 2);
    heartbeat(f.rings[1], VP_END);
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 100, f.runs, MAX_RUNS), 2);
    expect_run(f.runs[0], 2, 0, 0, 1);
    expect_run(f.runs[1], 0, 0, 2, 1);
    /* Source 0 may still add at 3, which goes before the 3 of source 2. */
    CHECK_EQUAL(vp_merge_holding(f.merge), 0);
    tear_down(&f);
}

static void test_ties_go_by_index_not_by_arrival(void)
{
    fixture f = set_up(2);
    CHECK(add(f.rings[1], 5, 1) >= 0);
    CHECK(!vp_merge_ready(f.merge));
    CHECK(add(f.rings[0], 5, 1) >= 0);
    heartbeat(f.rings[0], VP_END);
    heartbeat(f.rings[1], VP_END);
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 100, f.runs, MAX_RUNS), 2);
    expect_run(f.runs[0], 0, 0, 0, 1);
    expect_run(f.runs[1], 1, 0, 0, 1);
    CHECK(vp_merge_drained(f.merge));
    CHECK_EQUAL(vp_merge_holding(f.merge), -1);
    tear_down(&f);
}

static void test_limits(void)
{
    fixture f = set_up(2);
    for (int64_t ts = 0; ts < 6; ts++)
        CHECK(add(f.rings[ts % 2], ts, 1) >= 0);
    heartbeat(f.rings[0], VP_END);
    heartbeat(f.rings[1], VP_END);
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 0, f.runs, MAX_RUNS), 0);
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 100, f.runs, 2), 2);
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 1, f.runs, 2), 1);
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 100, f.runs, MAX_RUNS), 3);
    for (int64_t ts = 0; ts < 6; ts++)
        CHECK_EQUAL(f.into->data[ts].ts, ts);
    tear_down(&f);
}

/* One stretch is one run, however often other sources' progress was looked at on the way. */
static void test_a_stretch_in_pieces_is_one_run(void)
{
    fixture f = set_up(3);
    CHECK(add(f.rings[0], 0, 20) >= 0);
    heartbeat(f.rings[1], at(3));
    CHECK_EQUAL(vp_merge_holding(f.merge), 2);
    heartbeat(f.rings[2], at(7));
    CHECK(vp_merge_ready(f.merge)); /* knows 3 and 7 */
    heartbeat(f.rings[1], at(12));
    heartbeat(f.rings[2], at(10));
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 100, f.runs, MAX_RUNS), 1);
    expect_run(f.runs[0], 0, 0, 0, 11);
    CHECK_EQUAL(vp_gate_delivered(f.gate, 0, 0).runs, 1);
    CHECK_EQUAL(vp_gate_delivered(f.gate, 0, 0).delivered_tuples, 11);
    tear_down(&f);
}

/* What is put back comes again, in its place, and was not delivered. */
static void test_what_is_put_back_comes_again(void)
{
    fixture f = set_up(2);
    CHECK(add(f.rings[0], 1, 3) >= 0 && add(f.rings[0], 4, 3) >= 0 && add(f.rings[1], 2, 3) >= 0);
    heartbeat(f.rings[0], VP_END);
    heartbeat(f.rings[1], VP_END);
    CHECK(vp_merge_take(f.merge, f.into, 100, f.runs, MAX_RUNS) > 0); /* 1 2 2 3 3 4 4 5 6 */
    CHECK(vp_merge_drained(f.merge));
    CHECK_EQUAL(vp_merge_put_back(f.merge, 0, 4), 0);
    CHECK_EQUAL(vp_merge_put_back(f.merge, 1, 1), 0);
    CHECK_EQUAL(vp_gate_delivered(f.gate, 0, 0).delivered_tuples, 2);
    CHECK_EQUAL(vp_gate_delivered(f.gate, 0, 1).delivered_tuples, 2);
    CHECK_EQUAL(vp_merge_frontier(f.merge).ts, 3);
    vp_merge_release(f.merge);
    f.into->length = 0;
    CHECK_EQUAL(vp_merge_take(f.merge, f.into, 100, f.runs, MAX_RUNS), 4);
    expect_run(f.runs[0], 0, 0, 2, 1);
    expect_run(f.runs[1], 0, 1, 0, 1);
    expect_run(f.runs[2], 1, 0, 2, 1);
    expect_run(f.runs[3], 0, 1, 1, 2);
    const int64_t expected[] = {3, 4, 4, 5, 6};
    for (uint32_t i = 0; i < 5; i++)
        CHECK_EQUAL(f.into->data[i].ts, expected[i]);
    CHECK(vp_merge_drained(f.merge));
    tear_down(&f);
}

static void test_runs_are_joined_by_jumbo_tuple(void)
{
    vp_run runs[] = {{1, 0, 4, 2}, {0, 3, 0, 1}, {1, 0, 6, 1}, {1, 1, 0, 1}, {0, 3, 1, 2}, {1, 1, 1, 1}};
    uint32_t last[] = {2, 0}; /* of another call */
    uint16_t order[8];
    const uint16_t expected[] = {0, 0, 1, 0, 2, 1, 1, 2};
    CHECK_EQUAL(vp_runs_join(runs, 6, last, order), 3);
    expect_run(runs[0], 1, 0, 4, 3);
    expect_run(runs[1], 0, 3, 0, 3);
    expect_run(runs[2], 1, 1, 0, 2);
    for (uint32_t i = 0; i < 8; i++)
        CHECK_EQUAL(order[i], expected[i]);
}

/* The n-th place: few to a timestamp, so that all parts of positions decide somewhere. */
static vp_position nth(int64_t n)
{
    return (vp_position){n / 6, (uint64_t)(n % 6 / 2), (uint64_t)(n % 2), 0};
}

static bool add_nths(vp_ring *ring, int64_t n, uint32_t count)
{
    vp_position data[64];
    for (uint32_t i = 0; i < count; i++)
        data[i] = nth(n + i);
    return vp_ring_claim(ring, &(vp_positions){.data = data, .length = count, .capacity = count}, 0, count, 0) >= 0 && vp_ring_publish(ring);
}

/* Random jumbo tuples, ties and limits: what comes out is sorted by (position, source), and complete. */
static void test_random(uint32_t sources, uint32_t longest, uint64_t seed)
{
    enum { TUPLES = 3000 };
    fixture f = set_up(sources);
    uint64_t total = 0;
    int64_t next[MAX_SOURCES] = {0};
    vp_position last = VP_LEAST;
    uint32_t last_source = 0;
    for (bool open = true; open || !vp_merge_drained(f.merge);) {
        uint32_t source = random_below(&seed, sources), count = 1 + random_below(&seed, longest);
        next[source] += random_below(&seed, 3);
        if (open && random_below(&seed, 4) == 0)
            heartbeat(f.rings[source], nth(next[source]));
        else if (open && add_nths(f.rings[source], next[source], count)) {
            next[source] += count - 1;
            total += count;
        }
        if (total > TUPLES && open) {
            open = false;
            vp_ring_heartbeat(f.rings, sources, VP_END);
        }
        int64_t made = vp_merge_take(f.merge, f.into, random_below(&seed, 50), f.runs, MAX_RUNS);
        uint64_t delivered = 0;
        for (int64_t i = 0; i < made; i++)
            for (uint32_t j = 0; j < f.runs[i].count; j++) {
                vp_position position = f.into->data[delivered++];
                int order = vp_compare(last, position);
                CHECK(order < 0 || (order == 0 && f.runs[i].source >= last_source));
                last = position;
                last_source = f.runs[i].source;
            }
        CHECK_EQUAL(delivered, f.into->length);
        f.into->length = 0;
        vp_merge_release(f.merge);
    }
    uint64_t taken = 0, added = 0;
    for (uint32_t i = 0; i < sources; i++) {
        taken += vp_gate_delivered(f.gate, 0, i).delivered_tuples;
        added += vp_gate_added(f.gate, i).added_tuples;
    }
    CHECK_EQUAL(taken, added);
    CHECK(added > TUPLES);
    tear_down(&f);
}

int main(void)
{
    test_one_source_goes_whole();
    test_a_source_that_has_not_spoken_holds();
    test_ties_go_by_index_not_by_arrival();
    test_limits();
    test_a_stretch_in_pieces_is_one_run();
    test_what_is_put_back_comes_again();
    test_runs_are_joined_by_jumbo_tuple();
    for (uint32_t sources = 1; sources <= MAX_SOURCES; sources++)
        for (uint64_t seed = 1; seed <= 5; seed++)
            for (uint32_t longest = 6; longest <= 48; longest *= 8)
                test_random(sources, longest, seed);
}
