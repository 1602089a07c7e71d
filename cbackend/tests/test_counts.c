/* What is counted, looked at in the middle of a publish: waiting tuples are never below zero, and right again
 * with the next delivery; a source that is blocked now has been so till now. */
#include <setjmp.h>
#include <string.h>

#include "check.h"

static vp_gate *gate;
static vp_ring *ring;
static vp_merge *merge;
static jmp_buf death;

static void set_up(uint32_t slots)
{
    gate = new_gate((vp_gate_shape){1, 1, slots, 64, 0, false});
    ring = vp_gate_ring(gate, 0);
}

static void tear_down(void)
{
    vp_merge_free(merge);
    free(gate);
}

static void take_all(uint64_t expected)
{
    vp_positions *into = vp_positions_new();
    vp_run runs[8];
    CHECK(vp_merge_take(merge, into, UINT64_MAX, runs, 8) > 0);
    vp_merge_release(merge);
    CHECK_EQUAL(into->length, expected);
    vp_positions_free(into);
}

static void check_counts(uint64_t delivered, uint64_t waiting)
{
    vp_reader_counts counts = vp_gate_delivered(gate, 0, 0);
    CHECK_EQUAL(counts.delivered_tuples, delivered);
    CHECK_EQUAL(counts.waiting_tuples, waiting);
    CHECK_EQUAL(vp_merge_waiting(merge), waiting);
}

static void begin_reading(const char *name)
{
    if (strcmp(name, "publish: not yet"))
        return;
    at_point = NULL;
    merge = vp_merge_new(gate, 0);
}

static void test_a_reader_that_begins_in_a_publish(void)
{
    set_up(8);
    at_point = begin_reading;
    CHECK(add(ring, 1, 10) >= 0);
    CHECK(at_point == NULL); /* it came to the point */
    take_all(10);
    check_counts(10, 0);
    CHECK(add(ring, 20, 5) >= 0);
    check_counts(10, 5);
    tear_down();
}

static void die(const char *name)
{
    if (strcmp(name, "publish: not yet"))
        return;
    at_point = NULL;
    longjmp(death, 1);
}

static void test_a_reader_that_begins_between_a_death_and_the_recovery(void)
{
    set_up(8);
    at_point = die;
    if (!setjmp(death))
        add(ring, 1, 10);
    CHECK(at_point == NULL);
    merge = vp_merge_new(gate, 0);
    vp_ring_recover(ring);
    CHECK_EQUAL(vp_gate_delivered(gate, 0, 0).waiting_tuples, 0);
    CHECK_EQUAL(vp_merge_waiting(merge), 0);
    CHECK(add(ring, 1, 3) >= 0);
    take_all(3);
    check_counts(3, 0);
    tear_down();
}

static uint64_t blocked_ns(void)
{
    return vp_gate_added(gate, 0).blocked_ns;
}

/* The clock goes on by itself: in far fewer looks than these. */
static void check_blocked_longer_than(uint64_t before)
{
    for (uint32_t look = 0; look < 1000000; look++)
        if (blocked_ns() > before)
            return;
    CHECK(blocked_ns() > before);
}

static void test_a_source_is_blocked_till_now(void)
{
    set_up(1);
    merge = vp_merge_new(gate, 0);
    CHECK(add(ring, 1, 1) >= 0);
    CHECK_EQUAL(blocked_ns(), 0);
    CHECK_EQUAL(add(ring, 2, 1), VP_FULL);
    check_blocked_longer_than(0);
    check_blocked_longer_than(blocked_ns());
    vp_ring_recover(ring); /* a successor is blocked as well */
    check_blocked_longer_than(blocked_ns());
    take_all(1);
    CHECK(add(ring, 2, 1) >= 0);
    uint64_t in_all = blocked_ns();
    CHECK_EQUAL(add(ring, 3, 1), VP_FULL);
    check_blocked_longer_than(in_all);
    vp_ring_close(ring);
    in_all = blocked_ns();
    CHECK_EQUAL(blocked_ns(), in_all);
    tear_down();
}

int main(void)
{
    test_a_reader_that_begins_in_a_publish();
    test_a_reader_that_begins_between_a_death_and_the_recovery();
    test_a_source_is_blocked_till_now();
}
