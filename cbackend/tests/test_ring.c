/* A ring on one thread: what is refused, where positions lie, what passes the wrap-around. */
#include "check.h"
#include "reader.h"

static void take_jumbo(vp_reader *reader, int64_t ts, uint32_t count)
{
    uint32_t found;
    CHECK(vp_reader_has_tuple(reader) || vp_reader_refresh(reader));
    const vp_position *positions = vp_reader_positions(reader, &found);
    CHECK_EQUAL(found, count);
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQUAL(positions[i].ts, ts + i);
    vp_reader_advance(reader, count);
    vp_reader_release(reader);
}

static void test_refusals(void)
{
    vp_ring *ring = new_ring(2, 7);
    CHECK_EQUAL(vp_ring_tuples(ring), 8);
    CHECK_EQUAL(add(ring, 0, 0), VP_EMPTY);
    CHECK_EQUAL(add(ring, 0, 9), VP_TOO_LARGE);
    CHECK_EQUAL(add(ring, 10, 2), 0);
    CHECK_EQUAL(add(ring, 10, 2), VP_UNORDERED);
    CHECK_EQUAL(add(ring, 11, 2), 1);
    CHECK_EQUAL(add(ring, 20, 1), VP_FULL);
    CHECK_EQUAL(add(ring, 11, 2), VP_UNORDERED); /* not full: it would never be taken */
    CHECK(!vp_ring_room(ring, 1, 0));
    vp_position descending[] = {{21, 0, 0, 0}, {20, 0, 0, 0}};
    vp_reader reader = vp_reader_of(ring, 0);
    take_jumbo(&reader, 10, 2);
    CHECK(vp_ring_room(ring, 4, 0) && !vp_ring_room(ring, 7, 0));
    CHECK_EQUAL(vp_ring_claim(ring, &(vp_positions){.data = descending, .length = 2, .capacity = 2}, 0, 2, 0), VP_UNORDERED);
    CHECK_EQUAL(vp_ring_claim(ring, &(vp_positions){.data = descending, .length = 2, .capacity = 2}, 1, 2, 0), VP_OUT_OF_BOUNDS);
    CHECK_EQUAL(vp_ring_claim(ring, &(vp_positions){.data = &VP_END, .length = 1, .capacity = 1}, 0, 1, 0), VP_BEYOND_END);
    CHECK_EQUAL(vp_gate_added(vp_ring_gate(ring), 0).refused, 1);
    heartbeat(ring, VP_END);
    CHECK_EQUAL(add(ring, 30, 1), VP_UNORDERED);
    free_ring(ring);
}

static void test_unpublished_is_unseen_and_replaced(void)
{
    vp_ring *ring = new_ring(2, 4);
    vp_position claimed[] = {{5, 0, 0, 0}};
    CHECK_EQUAL(vp_ring_claim(ring, &(vp_positions){.data = claimed, .length = 1, .capacity = 1}, 0, 1, 0), 0);
    vp_reader reader = vp_reader_of(ring, 0);
    CHECK(!vp_reader_refresh(&reader));
    CHECK_EQUAL(add(ring, 3, 2), 0);
    take_jumbo(&reader, 3, 2);
    free_ring(ring);
}

static int64_t claim(vp_ring *ring, int64_t first, int64_t last)
{
    vp_position positions[] = {at(first), at(last)};
    return vp_ring_claim(ring, &(vp_positions){.data = positions, .length = 2, .capacity = 2}, 0, 2, 0);
}

static void test_only_what_was_claimed_is_published(void)
{
    vp_ring *ring = new_ring(2, 4);
    CHECK(!vp_ring_publish(ring));
    CHECK_EQUAL(claim(ring, 5, 6), 0);
    CHECK_EQUAL(claim(ring, 6, 5), VP_UNORDERED); /* half of the claim before is gone */
    CHECK(!vp_ring_publish(ring));
    CHECK_EQUAL(claim(ring, 5, 6), 0);
    vp_ring_recover(ring);
    CHECK(!vp_ring_publish(ring));
    CHECK_EQUAL(claim(ring, 5, 6), 0);
    heartbeat(ring, at(5));
    CHECK(vp_ring_publish(ring));
    CHECK(!vp_ring_publish(ring));
    vp_reader reader = vp_reader_of(ring, 0);
    take_jumbo(&reader, 5, 2);
    CHECK(!vp_reader_has_tuple(&reader));
    free_ring(ring);
}

static void test_a_promise_withdraws_what_was_claimed_below_it(void)
{
    vp_ring *ring = new_ring(2, 4);
    CHECK_EQUAL(claim(ring, 5, 6), 0);
    heartbeat(ring, (vp_position){5, 0, 1, 0});
    CHECK(!vp_ring_publish(ring));
    CHECK_EQUAL(claim(ring, 7, 8), 0);
    vp_ring_close(ring);
    CHECK(!vp_ring_publish(ring));
    CHECK_EQUAL(vp_gate_added(vp_ring_gate(ring), 0).added_jumbos, 0);
    free_ring(ring);
}

/* A jumbo tuple as large as the store passes wherever the store's next number is. */
static void test_an_empty_ring_takes_every_size(void)
{
    for (uint32_t before = 1; before < 8; before++)
        for (uint32_t count = 1; count <= 8; count++) {
            vp_ring *ring = new_ring(4, 8);
            vp_reader reader = vp_reader_of(ring, 0);
            CHECK(add(ring, 0, before) >= 0);
            take_jumbo(&reader, 0, before);
            CHECK(vp_ring_room(ring, count, 0));
            CHECK(add(ring, 100, count) >= 0);
            take_jumbo(&reader, 100, count);
            free_ring(ring);
        }
}

static void test_numbers_pass_their_wrap_around(void)
{
    enum { ROUNDS = 2000, JUMBOS = 8 };
    uint64_t random = 7;
    vp_ring *ring = new_ring(JUMBOS, 16);
    fast_forward(ring, UINT64_MAX - ROUNDS / 2);
    vp_reader reader = vp_reader_of(ring, 0);
    struct { int64_t ts; uint32_t count; } expected[ROUNDS];
    int64_t ts = 0;
    for (int added = 0, taken = 0; taken < ROUNDS;) {
        uint32_t count = 1 + random_below(&random, 9);
        if (added < ROUNDS && random_below(&random, 2) && add(ring, ts, count) >= 0) {
            expected[added].ts = ts;
            expected[added++].count = count;
            ts += count;
            CHECK(added - taken <= JUMBOS);
        } else if (taken < added) {
            take_jumbo(&reader, expected[taken].ts, expected[taken].count);
            taken++;
        }
    }
    CHECK_EQUAL(vp_gate_added(vp_ring_gate(ring), 0).added_tuples, ts);
    free_ring(ring);
}

static void test_bounds_only_grow(void)
{
    vp_ring *ring = new_ring(4, 8);
    vp_reader reader = vp_reader_of(ring, 0);
    CHECK(!vp_reader_refresh(&reader));
    CHECK_EQUAL(vp_compare(reader.bound, VP_LEAST), 0);
    heartbeat(ring, at(5));
    CHECK(vp_reader_refresh(&reader));
    CHECK_EQUAL(reader.bound.ts, 5);
    CHECK(add(ring, 7, 2) >= 0);
    heartbeat(ring, at(6)); /* behind what was added: nothing new */
    CHECK_EQUAL(vp_ring_floor(ring).ts, 8);
    CHECK(vp_reader_refresh(&reader));
    CHECK_EQUAL(reader.bound.ts, 7);
    vp_reader_advance(&reader, 1);
    CHECK_EQUAL(reader.bound.ts, 8);
    vp_reader_advance(&reader, 1);
    CHECK_EQUAL(reader.bound.ts, 8);
    heartbeat(ring, VP_END);
    CHECK(vp_reader_refresh(&reader));
    CHECK_EQUAL(vp_compare(reader.bound, VP_END), 0);
    free_ring(ring);
}

static void test_a_new_reader_begins_where_the_last_released(void)
{
    vp_ring *ring = new_ring(4, 8);
    CHECK(add(ring, 1, 2) >= 0 && add(ring, 3, 2) >= 0);
    vp_reader first = vp_reader_of(ring, 0);
    take_jumbo(&first, 1, 2);
    CHECK(vp_reader_has_tuple(&first));
    vp_reader_advance(&first, 1); /* taken in part, not released */
    vp_reader second = vp_reader_of(ring, 0);
    take_jumbo(&second, 3, 2);
    free_ring(ring);
}

int main(void)
{
    test_refusals();
    test_unpublished_is_unseen_and_replaced();
    test_only_what_was_claimed_is_published();
    test_a_promise_withdraws_what_was_claimed_below_it();
    test_an_empty_ring_takes_every_size();
    test_numbers_pass_their_wrap_around();
    test_bounds_only_grow();
    test_a_new_reader_begins_where_the_last_released();
}
