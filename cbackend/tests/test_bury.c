/* Readers that die: where their successors begin, and how much is lost. */
#include <setjmp.h>
#include <string.h>

#include "check.h"
#include "quota.h"

static vp_gate *gate;
static vp_ring *ring;
static vp_positions *into;

static void set_up(uint32_t readers)
{
    gate = new_gate((vp_gate_shape){1, readers, 8, 64, 0, false});
    ring = vp_gate_ring(gate, 0);
    into = vp_positions_new();
}

static void tear_down(void)
{
    vp_positions_free(into);
    free(gate);
}

/* Takes so many tuples, from ts on, and dies: before it releases anything, or behind that. */
static void take_and_die(uint32_t reader, uint64_t count, int64_t ts, bool released)
{
    vp_run runs[8];
    vp_merge *merge = vp_merge_new(gate, reader);
    into->length = 0;
    CHECK(vp_merge_take(merge, into, count, runs, 8) > 0);
    CHECK_EQUAL(into->length, count);
    for (uint64_t i = 0; i < count; i++)
        CHECK_EQUAL(into->data[i].ts, ts + (int64_t)i);
    if (released)
        vp_merge_release(merge);
    vp_merge_free(merge);
}

/* Adds tuples at ts, ts + 1, ..., every second of which is tracked. */
static void add_tracked(int64_t ts, uint32_t count)
{
    vp_position data[16];
    for (uint32_t i = 0; i < count; i++)
        data[i] = (vp_position){.ts = ts + i, .tree = i % 2};
    CHECK(vp_ring_claim(ring, &(vp_positions){.data = data, .length = count, .capacity = count}, 0, count, 0) >= 0);
    CHECK(vp_ring_publish(ring));
}

static void test_a_successor_goes_on_within_a_jumbo_tuple(void)
{
    for (uint64_t taken = 1; taken < 12; taken++)
        for (int released = 0; released < 2; released++) {
            set_up(1);
            CHECK(add(ring, 0, 4) >= 0 && add(ring, 4, 4) >= 0 && add(ring, 8, 4) >= 0);
            take_and_die(0, taken, 0, released);
            CHECK_EQUAL(vp_gate_bury_reader(gate, 0), taken);
            CHECK_EQUAL(atomic_load(&vp_ring_head(ring, 0)->head), taken / 4);
            CHECK_EQUAL(vp_gate_bury_reader(gate, 0), 0); /* it is set right once for all */
            CHECK_EQUAL(vp_gate_delivered(gate, 0, 0).waiting_tuples, 12 - taken);
            take_and_die(0, 12 - taken, (int64_t)taken, released);
            CHECK_EQUAL(vp_gate_bury_reader(gate, 0), 12 - taken);
            CHECK_EQUAL(atomic_load(&vp_ring_head(ring, 0)->head), 3);
            CHECK(add(ring, 12, 2) >= 0);
            take_and_die(0, 2, 12, released);
            tear_down();
        }
}

static void test_a_successor_that_dies_at_once_has_taken_nothing(void)
{
    set_up(1);
    CHECK(add(ring, 0, 4) >= 0);
    take_and_die(0, 3, 0, true);
    for (int deaths = 0; deaths < 3; deaths++) {
        vp_gate_bury_reader(gate, 0);
        vp_merge_free(vp_merge_new(gate, 0));
    }
    vp_gate_bury_reader(gate, 0);
    take_and_die(0, 1, 3, true);
    tear_down();
}

static void test_room_is_made_for_a_source_that_waits(void)
{
    set_up(1);
    for (int64_t ts = 0; ts < 8; ts++)
        CHECK(add(ring, ts, 1) >= 0);
    CHECK_EQUAL(add(ring, 8, 1), VP_FULL);
    take_and_die(0, 3, 0, false);
    CHECK_EQUAL(add(ring, 8, 1), VP_FULL);
    vp_gate_bury_reader(gate, 0);
    CHECK(add(ring, 8, 1) >= 0);
    tear_down();
}

static void test_only_untracked_tuples_are_lost(void)
{
    set_up(2);
    add_tracked(0, 10);
    add_tracked(10, 10);
    take_and_die(0, 7, 0, true);
    CHECK_EQUAL(vp_gate_bury_reader(gate, 0), 4); /* 0, 2, 4 and 6 */
    CHECK_EQUAL(vp_gate_bury_reader(gate, 1), 0);
    vp_ring_recover(ring);
    CHECK_EQUAL(vp_ring_drop(ring, 0), 6);
    CHECK_EQUAL(vp_ring_drop(ring, 1), 10);
    CHECK_EQUAL(vp_ring_drop(ring, 0) + vp_ring_drop(ring, 1), 0);
    for (uint32_t reader = 0; reader < 2; reader++)
        CHECK_EQUAL(vp_gate_delivered(gate, reader, 0).waiting_tuples, 0);
    add_tracked(20, 3);
    take_and_die(0, 3, 20, true);
    take_and_die(1, 3, 20, true);
    tear_down();
}

static void test_what_is_finished_is_not_lost(void)
{
    set_up(1);
    CHECK(add(ring, 0, 4) >= 0);
    vp_run run;
    vp_merge *merge = vp_merge_new(gate, 0);
    CHECK_EQUAL(vp_merge_take(merge, into, 4, &run, 1), 1);
    vp_merge_working(merge, 1);
    CHECK_EQUAL(vp_gate_bury_reader(gate, 0), 1);
    vp_merge_free(merge);
    tear_down();
}

static void test_what_is_unfinished_is_lost_with_what_is_taken(void)
{
    set_up(1);
    CHECK(add(ring, 0, 4) >= 0);
    vp_run run;
    vp_merge *merge = vp_merge_new(gate, 0);
    CHECK_EQUAL(vp_merge_take(merge, into, 2, &run, 1), 1);
    vp_merge_working(merge, 2); /* both are in flight */
    CHECK_EQUAL(vp_merge_take(merge, into, 2, &run, 1), 1);
    vp_merge_delivered_since(merge, 1); /* one of these was put back */
    CHECK_EQUAL(vp_gate_bury_reader(gate, 0), 3);
    vp_merge_free(merge);
    tear_down();
    set_up(1);
    CHECK(add(ring, 0, 4) >= 0);
    merge = vp_merge_new(gate, 0);
    CHECK_EQUAL(vp_merge_take(merge, into, 3, &run, 1), 1);
    vp_merge_working(merge, 3);
    CHECK_EQUAL(vp_merge_take(merge, into, 1, &run, 1), 1);
    CHECK_EQUAL(vp_gate_bury_reader(gate, 0), 4);
    vp_merge_free(merge);
    tear_down();
}

static jmp_buf death;
static uint32_t passes_left;

static void die_in_a_take(const char *name)
{
    if (strncmp(name, "take: ", strlen("take: ")) == 0 && passes_left-- == 0) {
        at_point = NULL;
        longjmp(death, 1);
    }
}

static void die_in_putting_back(const char *name)
{
    if (strcmp(name, "put back: not told") == 0) {
        at_point = NULL;
        longjmp(death, 1);
    }
}

/* What goes back counts as taken until everybody is told: rather too many are lost than too few. */
static void test_a_death_in_putting_back_loses_what_was_taken(void)
{
    set_up(1);
    CHECK(add(ring, 0, 5) >= 0);
    vp_run run;
    vp_merge *merge = vp_merge_new(gate, 0);
    CHECK_EQUAL(vp_merge_take(merge, into, 4, &run, 1), 1);
    at_point = die_in_putting_back;
    if (!setjmp(death))
        vp_merge_put_back(merge, 0, 2);
    CHECK(at_point == NULL); /* it came to the point */
    vp_merge_free(merge);
    CHECK_EQUAL(vp_gate_bury_reader(gate, 0), 4);
    CHECK_EQUAL(vp_gate_delivered(gate, 0, 0).waiting_tuples, 1);
    tear_down();
}

/* Three sources that take turns; the reader dies in the middle of a take, after so many of its points. */
static void take_and_die_within(uint32_t passes)
{
    enum { SOURCES = 3, EACH = 4 };
    gate = new_gate((vp_gate_shape){SOURCES, 1, 8, 64, 0, false});
    into = vp_positions_new();
    for (int64_t ts = 0; ts < SOURCES * EACH; ts++)
        CHECK(add(vp_gate_ring(gate, (uint32_t)ts % SOURCES), ts, 1) >= 0);
    vp_run runs[SOURCES * EACH];
    vp_merge *merge = vp_merge_new(gate, 0);
    passes_left = passes;
    at_point = die_in_a_take;
    if (!setjmp(death))
        vp_merge_take(merge, into, SOURCES * (EACH - 1), runs, SOURCES * EACH);
    CHECK(at_point == NULL); /* it came to the point */
    vp_merge_free(merge);
    uint64_t lost = vp_gate_bury_reader(gate, 0), waiting = 0;
    for (uint32_t source = 0; source < SOURCES; source++)
        waiting += vp_gate_delivered(gate, 0, source).waiting_tuples;
    CHECK(waiting + lost >= SOURCES * EACH);
    into->length = 0;
    for (uint32_t source = 0; source < SOURCES; source++)
        vp_ring_close(vp_gate_ring(gate, source));
    merge = vp_merge_new(gate, 0);
    CHECK(vp_merge_take(merge, into, UINT64_MAX, runs, SOURCES * EACH) > 0);
    CHECK_EQUAL(into->length, waiting);
    vp_merge_free(merge);
    tear_down();
}

static void test_a_death_within_a_take_loses_no_more_than_it_says(void)
{
    for (uint32_t passes = 0; passes < 4; passes++) /* behind working, and behind each source's delivered */
        take_and_die_within(passes);
}

static void test_positions_are_raised_to_a_floor(void)
{
    vp_position data[] = {{.ts = 1, .tree = 7}, {.ts = 2, .hi = 1}, {.ts = 2, .hi = 2}, {.ts = 3}};
    vp_positions positions = {.data = data, .length = 4, .capacity = 4};
    vp_position floor = {.ts = 2, .hi = 2, .tree = 9};
    CHECK_EQUAL(vp_positions_raise(&positions, floor), 2);
    CHECK(vp_compare(data[0], floor) == 0 && vp_compare(data[1], floor) == 0);
    CHECK(data[0].tree == 7 && data[1].tree == 0 && data[2].hi == 2 && data[3].ts == 3);
    CHECK_EQUAL(vp_positions_raise(&positions, floor), 0);
}

int main(void)
{
    test_a_successor_goes_on_within_a_jumbo_tuple();
    test_a_successor_that_dies_at_once_has_taken_nothing();
    test_room_is_made_for_a_source_that_waits();
    test_only_untracked_tuples_are_lost();
    test_what_is_finished_is_not_lost();
    test_what_is_unfinished_is_lost_with_what_is_taken();
    test_a_death_within_a_take_loses_no_more_than_it_says();
    test_a_death_in_putting_back_loses_what_was_taken();
    test_positions_are_raised_to_a_floor();
}
