/* Merged partitions against a sort of all their rows. */
#include <string.h>

#include "check.h"
#include "viper/partition.h"

enum { MOST = 5, ROWS = 40 };

static const vp_level LEVEL = {64, 24, 12, 0};

typedef struct {
    int64_t times[MOST][ROWS];
    vp_partition partitions[MOST], *pointers[MOST];
    uint32_t count;
} several;

static void fill_all(several *source, uint32_t count, uint64_t *random)
{
    source->count = count;
    for (uint32_t p = 0; p < count; p++) {
        int64_t ts = -5;
        for (uint32_t row = 0; row < ROWS; row++)
            source->times[p][row] = ts += random_below(random, 3);
        vp_level level = LEVEL;
        level.tag = p;
        source->partitions[p] = (vp_partition){source->times[p], 0, ROWS, {INT64_MIN, 0, 0}, level};
        source->pointers[p] = &source->partitions[p];
    }
}

/* The rule, said directly: by time, then by partition, and counted within the two. */
static uint64_t expected(const several *source, vp_position *out, uint16_t *chosen)
{
    uint64_t count = 0;
    for (int64_t ts = -5; ts < 3 * ROWS; ts++)
        for (uint16_t p = 0; p < source->count; p++)
            for (uint64_t row = 0, ordinal = 0; row < ROWS; row++)
                if (source->times[p][row] == ts) {
                    chosen[count] = p;
                    out[count++] = (vp_position){ts, (uint64_t)p << 24 | ++ordinal, 0, 0};
                }
    return count;
}

/* Merges until a partition has no rows left, by calls of various limits. */
static uint64_t merge(several *source, vp_positions *out, uint16_t *chosen, int64_t until, uint64_t *random)
{
    uint64_t total = 0;
    for (;;) {
        uint64_t limit = 1 + random_below(random, 7);
        int64_t count = vp_partitions_merge(out, source->pointers, source->count, until, limit, chosen + total);
        CHECK(count >= 0 && (uint64_t)count <= limit);
        total += (uint64_t)count;
        CHECK_EQUAL(out->length, total);
        for (uint32_t p = 0; p < source->count; p++)
            if (source->partitions[p].next == ROWS)
                return total;
        if (count == 0)
            return total;
    }
}

static void check_same(const vp_positions *found, const uint16_t *chosen, const vp_position *places,
                       const uint16_t *of, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        CHECK_EQUAL(vp_compare(found->data[i], places[i]), 0);
        CHECK_EQUAL(chosen[i], of[i]);
    }
}

static void test_merge_is_a_sort(void)
{
    uint64_t random = 1;
    for (int round = 0; round < 500; round++) {
        several source;
        vp_position places[MOST * ROWS];
        uint16_t of[MOST * ROWS], chosen[MOST * ROWS];
        fill_all(&source, 1 + random_below(&random, MOST), &random);
        uint64_t all = expected(&source, places, of);
        CHECK_EQUAL(all, source.count * ROWS);
        vp_positions *out = vp_positions_new();
        uint64_t count = merge(&source, out, chosen, INT64_MAX, &random);
        check_same(out, chosen, places, of, count);
        /* Nobody knows what the one brings next that has no rows left: nothing may lie behind its last. */
        CHECK_EQUAL(source.partitions[chosen[count - 1]].next, ROWS);
        vp_positions_free(out);
    }
}

static void test_until(void)
{
    uint64_t random = 2;
    for (int round = 0; round < 100; round++) {
        several source;
        uint16_t chosen[MOST * ROWS];
        fill_all(&source, 3, &random);
        vp_positions *out = vp_positions_new();
        uint64_t count = merge(&source, out, chosen, 10, &random);
        for (uint64_t i = 0; i < count; i++)
            CHECK(out->data[i].ts <= 10);
        for (uint32_t p = 0; p < 3; p++)
            CHECK(source.partitions[p].next == ROWS || source.times[p][source.partitions[p].next] > 10);
        vp_positions_free(out);
    }
}

static void test_floor_and_skip(void)
{
    uint64_t random = 3;
    several whole, rest;
    vp_position places[MOST * ROWS];
    uint16_t of[MOST * ROWS], chosen[MOST * ROWS];
    fill_all(&whole, 4, &random);
    uint64_t all = expected(&whole, places, of);
    for (uint64_t from = 0; from < all; from++) {
        rest = whole;
        uint64_t skipped = 0;
        for (uint32_t p = 0; p < 4; p++) {
            rest.partitions[p].times = rest.times[p];
            rest.pointers[p] = &rest.partitions[p];
            skipped += vp_partition_skip(&rest.partitions[p], places[from]);
        }
        CHECK_EQUAL(skipped, from);
        CHECK_EQUAL(vp_compare(vp_partition_floor(&rest.partitions[of[from]]), places[from]), 0);
        bool has_rows = true;
        for (uint32_t p = 0; p < 4; p++)
            has_rows = has_rows && rest.partitions[p].next < ROWS;
        if (!has_rows)
            break;
        vp_positions *out = vp_positions_new();
        uint64_t count = merge(&rest, out, chosen, INT64_MAX, &random);
        check_same(out, chosen, places + from, of + from, count);
        vp_positions_free(out);
    }
}

static void test_floor_without_rows(void)
{
    int64_t times[] = {7, 7};
    vp_partition partition = {times, 0, 0, {INT64_MIN, 0, 0}, LEVEL}, *pointer = &partition;
    CHECK_EQUAL(vp_compare(vp_partition_floor(&partition), VP_LEAST), 0);
    partition.count = 2;
    CHECK_EQUAL(vp_compare(vp_partition_floor(&partition), (vp_position){7, 1, 0, 0}), 0);
    vp_positions *out = vp_positions_new();
    uint16_t chosen[2];
    CHECK_EQUAL(vp_partitions_merge(out, &pointer, 1, INT64_MAX, 2, chosen), 2);
    CHECK_EQUAL(vp_compare(vp_partition_floor(&partition), (vp_position){7, 3, 0, 0}), 0);
    vp_positions_free(out);
}

static void test_time_that_goes_back(void)
{
    int64_t times[] = {3, 5, 4};
    vp_partition partition = {times, 0, 3, {INT64_MIN, 0, 0}, LEVEL}, *pointer = &partition;
    vp_positions *out = vp_positions_new();
    uint16_t chosen[3];
    CHECK_EQUAL(vp_partitions_merge(out, &pointer, 1, INT64_MAX, 3, chosen), 2);
    CHECK_EQUAL(partition.next, 2);
    CHECK_EQUAL(vp_partitions_merge(out, &pointer, 1, INT64_MAX, 3, chosen), 0);
    vp_positions_free(out);
}

/* A row without room for its place stands behind all of its time, so it has to come behind them. */
static void test_saturated_rows_come_last(void)
{
    int64_t times[2][6] = {{4, 4, 4, 4, 4, 9}, {4, 4, 4, 4, 4, 9}};
    vp_partition partitions[2], *pointers[2];
    uint16_t chosen[12];
    for (uint32_t p = 0; p < 2; p++) {
        partitions[p] = (vp_partition){times[p], 0, 6, {INT64_MIN, 0, 0}, {64, 2, 12, p}};
        pointers[p] = &partitions[p];
    }
    vp_positions *out = vp_positions_new();
    CHECK_EQUAL(vp_partitions_merge(out, pointers, 2, INT64_MAX, 12, chosen), 11);
    for (uint64_t i = 1; i < out->length; i++)
        CHECK(vp_compare(out->data[i - 1], out->data[i]) <= 0);
    CHECK_EQUAL(partitions[0].clock.overflowed, 3);
    vp_positions_free(out);
}

static void test_skip_behind_counts(void)
{
    int64_t times[] = {1, 4, 4, 4, 4, 4, 9};
    vp_partition partition = {times, 0, 7, {INT64_MIN, 0, 0}, {64, 2, 12, 0}};
    CHECK_EQUAL(vp_partition_skip_behind(&partition, 4, 4), 5);
    CHECK_EQUAL(partition.clock.ordinal, 4);
    CHECK_EQUAL(vp_partition_skip_behind(&partition, 4, 4), 0);
    CHECK_EQUAL(vp_partition_skip_behind(&partition, 9, 0), 1);
}

int main(void)
{
    test_merge_is_a_sort();
    test_until();
    test_floor_and_skip();
    test_floor_without_rows();
    test_time_that_goes_back();
    test_saturated_rows_come_last();
    test_skip_behind_counts();
    return 0;
}
