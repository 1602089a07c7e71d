/* Positions against plain 128-bit arithmetic, which the sources do without. */
#include <string.h>

#include "check.h"
#include "field.h"
#include "viper/position.h"

__extension__ typedef unsigned __int128 wide;

static wide path_of(vp_position position)
{
    return (wide)position.hi << 64 | position.lo;
}

static vp_position with_path(int64_t ts, wide path)
{
    return (vp_position){ts, (uint64_t)(path >> 64), (uint64_t)path, 0};
}

static wide low_ones(uint32_t bits)
{
    return bits >= 128 ? ~(wide)0 : ((wide)1 << bits) - 1;
}

/* The rule, said directly. */
static wide expected_path(wide parent, uint64_t ordinal, vp_level level, int64_t *saturated)
{
    uint32_t top = level.offset + level.ordinal_bits + level.tag_bits;
    wide below = low_ones(top);
    if (ordinal >= (UINT64_C(1) << level.ordinal_bits) - 1 || (parent & below) == below) {
        ++*saturated;
        return parent | below;
    }
    wide place = ((wide)level.tag << level.ordinal_bits | ordinal) << level.offset;
    return (parent & ~below) | place;
}

static void test_order(void)
{
    vp_position ascending[] = {
        VP_LEAST,
        {-1, 5, 5, 9},
        {0, 0, 0, 7},
        {0, 0, 1, 6},
        {0, 0, UINT64_MAX, 0},
        {0, 1, 0, 8},
        {1, 0, 0, 0},
        VP_END,
    };
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            CHECK_EQUAL(vp_compare(ascending[i], ascending[j]), (i > j) - (i < j));
}

static void test_every_offset_and_width(void)
{
    uint64_t random = 1;
    for (uint32_t offset = 0; offset < 128; offset++)
        for (uint32_t bits = 0; bits < 64 && offset + bits <= 128; bits += 1 + random_below(&random, 5)) {
            uint32_t tag_bits = random_below(&random, 128 - offset - bits < 63 ? 129 - offset - bits : 64);
            vp_level level = {offset, bits, tag_bits, tag_bits ? random_below(&random, 1) : 0};
            level.tag = tag_bits ? ((UINT64_C(1) << tag_bits) - 1) & random : 0;
            vp_field field = vp_field_of(level);
            wide above = ~low_ones(offset + bits + tag_bits) & ((wide)random << 64 | ~random);
            uint64_t last = (UINT64_C(1) << bits) - 1;
            uint64_t ordinals[] = {1, 2, last / 2 + 1, last - 1, last, last + 1};
            for (int i = 0; i < 6; i++) {
                int64_t found = 0, expected = 0;
                wide path = expected_path(above, ordinals[i], level, &expected);
                vp_position placed = vp_field_place(&field, with_path(7, above), ordinals[i], &found);
                CHECK(path_of(placed) == path);
                CHECK_EQUAL(placed.ts, 7);
                CHECK_EQUAL(found, expected);
            }
        }
}

static void test_children_of_several_parents(void)
{
    vp_positions *parents = vp_positions_new(), *out = vp_positions_new();
    vp_level level = {8, 8, 0, 0};
    for (int64_t ts = 0; ts < 4; ts++)
        CHECK_EQUAL(vp_positions_append(parents, at(ts)), 0);
    uint32_t ends[] = {2, 2, 5};
    CHECK_EQUAL(vp_positions_children(out, parents, 1, 3, &(vp_outputs){.ends = ends}, 3, level), 0);
    int64_t ts[] = {1, 1, 3, 3, 3};
    uint64_t ordinals[] = {4, 5, 1, 2, 3};
    CHECK_EQUAL(out->length, 5);
    for (int i = 0; i < 5; i++) {
        CHECK_EQUAL(out->data[i].ts, ts[i]);
        CHECK_EQUAL(out->data[i].lo, ordinals[i] << 8);
    }
    uint32_t descending[] = {3, 2, 4};
    CHECK_EQUAL(vp_positions_children(out, parents, 0, 3, &(vp_outputs){.ends = descending}, 0, level), VP_ENDS_DESCEND);
    CHECK_EQUAL(out->length, 5);
    vp_positions_free(parents);
    vp_positions_free(out);
}

static void test_equal_parents_share_one_count(void)
{
    vp_positions *parents = vp_positions_new(), *out = vp_positions_new();
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vp_positions_append(parents, at(9)), 0);
    uint32_t ends[] = {2, 4};
    CHECK_EQUAL(vp_positions_children(out, parents, 0, 2, &(vp_outputs){.ends = ends}, 0, (vp_level){0, 8, 0, 0}), 0);
    for (uint64_t i = 0; i < 4; i++)
        CHECK_EQUAL(out->data[i].lo, i + 1);
    vp_positions_free(parents);
    vp_positions_free(out);
}

static void test_saturation_goes_down_all_levels(void)
{
    vp_positions *root = vp_positions_new(), *first = vp_positions_new(), *second = vp_positions_new();
    vp_level upper = {68, 2, 1, 0}, lower = {60, 8, 0, 0};
    CHECK_EQUAL(vp_positions_append(root, with_path(0, (wide)1 << 100)), 0);
    uint32_t five[] = {5}, one_each[] = {1, 2, 3, 4, 5};
    CHECK_EQUAL(vp_positions_children(first, root, 0, 1, &(vp_outputs){.ends = five}, 0, upper), 3);
    CHECK_EQUAL(vp_positions_children(second, first, 0, 5, &(vp_outputs){.ends = one_each}, 0, lower), 3);
    for (int i = 0; i < 5; i++) {
        wide expected = (wide)1 << 100 | (i < 2 ? (wide)(i + 1) << 68 : low_ones(71));
        CHECK(path_of(first->data[i]) == expected);
        CHECK(path_of(second->data[i]) == (i < 2 ? expected | (wide)1 << 60 : expected));
    }
    vp_positions_free(root);
    vp_positions_free(first);
    vp_positions_free(second);
}

static void test_a_tag_without_room_saturates(void)
{
    vp_field field = vp_field_of((vp_level){4, 8, 1, 2});
    int64_t saturated = 0;
    CHECK_EQUAL(vp_field_place(&field, at(0), 1, &saturated).lo, 0x1fff);
    CHECK_EQUAL(saturated, 1);
}

static void test_sources(void)
{
    vp_positions *out = vp_positions_new();
    vp_level level = {4, 2, 2, 1};
    CHECK_EQUAL(vp_positions_logical(out, INT64_MIN, 2, level), 0);
    CHECK_EQUAL(out->data[1].ts, INT64_MIN + 1);
    CHECK_EQUAL(out->data[1].lo, (1 << 2 | 1) << 4);
    vp_clock clock = {INT64_MIN, 0, 0};
    int64_t ts[] = {5, 5, 5, 6, 4};
    out->length = 0;
    CHECK_EQUAL(vp_positions_timed(out, ts, 5, &clock, level), 4);
    uint64_t paths[] = {0x50, 0x60, 0xff, 0x50};
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(out->data[i].ts, ts[i]);
        CHECK_EQUAL(out->data[i].lo, paths[i]);
    }
    CHECK_EQUAL(clock.overflowed, 1);
    CHECK_EQUAL(vp_positions_timed(out, &(int64_t){6}, 1, &clock, level), 1);
    CHECK_EQUAL(out->data[4].lo, 0x60);
    vp_positions_free(out);
}

static void test_scatter_and_growth(void)
{
    enum { COUNT = 1000 };
    vp_positions *from = vp_positions_new(), *outs[3];
    uint16_t targets[COUNT];
    for (int i = 0; i < 3; i++)
        outs[i] = vp_positions_new();
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQUAL(vp_positions_append(from, at(i)), 0);
        targets[i] = (uint16_t)(i % 4); /* the last is none of the outs */
    }
    CHECK_EQUAL(vp_positions_scatter(from, targets, outs, 3), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(outs[i]->length, COUNT / 4);
        for (int j = 0; j < COUNT / 4; j++)
            CHECK_EQUAL(outs[i]->data[j].ts, 4 * j + i);
        vp_positions_free(outs[i]);
    }
    CHECK_EQUAL(vp_positions_extend(from, from, 10, COUNT - 10), 0);
    CHECK_EQUAL(from->data[2 * COUNT - 11].ts, COUNT - 1);
    vp_positions_free(from);
}

static void test_interleaving_takes_each_array_from_its_first_on(void)
{
    vp_positions *from[] = {vp_positions_new(), vp_positions_new()}, *out = vp_positions_new();
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(vp_positions_append(from[0], at(i)), 0);
        CHECK_EQUAL(vp_positions_append(from[1], at(10 + i)), 0);
    }
    CHECK_EQUAL(vp_positions_set_trees(from[1], (uint32_t[]){3}, (uint64_t[]){5}, 1), 0);
    CHECK_EQUAL(vp_positions_append(out, at(-1)), 0);
    uint64_t firsts[] = {1, 2};
    CHECK_EQUAL(vp_positions_interleave(out, from, firsts, 2, (uint16_t[]){1, 0, 0, 1}, 4), 0);
    const int64_t expected[] = {-1, 12, 1, 2, 13};
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(vp_positions_at(out, i).ts, expected[i]);
    CHECK_EQUAL(vp_positions_at(out, 4).tree, 5);
    CHECK(firsts[0] == 3 && firsts[1] == 4);
    CHECK_EQUAL(vp_positions_interleave(out, from, firsts, 2, (uint16_t[]){0, 1}, 2), VP_OUT_OF_RANGE);
    CHECK_EQUAL(vp_positions_interleave(out, from, firsts, 2, (uint16_t[]){0, 2}, 2), VP_OUT_OF_RANGE);
    CHECK(out->length == 5 && firsts[0] == 3 && firsts[1] == 4);
    vp_positions_free(from[0]);
    vp_positions_free(from[1]);
    vp_positions_free(out);
}

static void test_trees_travel_with_their_positions(void)
{
    vp_position data[] = {{1, 0, 0, 7}, {2, 0, 0, 0}, {3, 0, 0, 9}};
    vp_positions parents = {.data = data, .length = 3, .capacity = 3}, *out = vp_positions_new();
    uint32_t ends[] = {3, 4, 5};
    CHECK_EQUAL(vp_positions_children(out, &parents, 0, 3, &(vp_outputs){.ends = ends}, 0, (vp_level){0, 2, 0, 0}), 1); /* the third */
    uint64_t found[5], expected[] = {7, 7, 7, 0, 9};
    vp_positions_trees(out, 0, 5, found);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(found[i], expected[i]);
    CHECK(vp_positions_tracked(out, 4) && !vp_positions_tracked(out, 5));
    CHECK_EQUAL(vp_positions_untracked(out, 0, 5), 1);
    CHECK_EQUAL(vp_positions_untracked(out, 3, 2), 1);
    CHECK_EQUAL(vp_positions_untracked(out, 4, 1), 0);
    CHECK_EQUAL(vp_positions_untracked(out, 5, 0), 0);
    CHECK_EQUAL(vp_positions_set_trees(out, (uint32_t[]){3, 4}, (uint64_t[]){0, 0}, 2), 0);
    CHECK(vp_positions_tracked(out, 2) && !vp_positions_tracked(out, 3));
    CHECK_EQUAL(vp_positions_set_trees(out, (uint32_t[]){4}, (uint64_t[]){5}, 1), 0);
    CHECK(vp_positions_tracked(out, 4));
    CHECK_EQUAL(vp_positions_set_trees(out, (uint32_t[]){5}, (uint64_t[]){5}, 1), VP_OUT_OF_RANGE);
    uint8_t packed[3 * 24];
    vp_positions_pack(&parents, packed);
    for (int i = 0; i < 3; i++)
        CHECK(memcmp(packed + 24 * i, &data[i], 24) == 0);
    vp_positions_free(out);
}

int main(void)
{
    test_order();
    test_every_offset_and_width();
    test_children_of_several_parents();
    test_equal_parents_share_one_count();
    test_saturation_goes_down_all_levels();
    test_a_tag_without_room_saturates();
    test_sources();
    test_scatter_and_growth();
    test_interleaving_takes_each_array_from_its_first_on();
    test_trees_travel_with_their_positions();
}
