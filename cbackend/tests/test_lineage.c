/* Where outputs are placed, however the inputs that they are for are divided into portions. */
#include "check.h"
#include "order.h"
#include "viper/lineage.h"

enum { INPUTS = 6 };

static const vp_level hop = {.offset = 0, .ordinal_bits = 16, .tag_bits = 8, .tag = 3};
/* The second and the third stand at one position, as do the last three. */
static const int64_t times[INPUTS] = {1, 2, 2, 3, 3, 3};
static const uint32_t outputs[INPUTS] = {2, 1, 0, 2, 1, 3};

static vp_lineage fresh(void)
{
    return (vp_lineage){VP_LEAST, 0, VP_LEAST};
}

static vp_positions *placed(uint32_t portions, vp_lineage *lineage)
{
    vp_positions *inputs = vp_positions_new(), *out = vp_positions_new();
    CHECK(inputs && out);
    for (int i = 0; i < INPUTS; i++)
        CHECK_EQUAL(vp_positions_append(inputs, (vp_position){times[i], 0, 0, (uint64_t)i}), 0);
    for (uint64_t first = 0; first < INPUTS;) {
        uint32_t ends[INPUTS], end = 0;
        uint64_t count = 0;
        do { /* a set bit ends the portion behind that input */
            ends[count] = end += outputs[first + count];
            count++;
        } while (first + count < INPUTS && !(portions >> (first + count - 1) & 1));
        CHECK_EQUAL(vp_lineage_place(lineage, out, inputs, first, count, &(vp_outputs){.ends = ends}, hop), 0);
        first += count;
    }
    vp_positions_free(inputs);
    return out;
}

static void test_portions_make_no_difference(void)
{
    vp_lineage whole = fresh();
    vp_positions *expected = placed(0, &whole);
    CHECK_EQUAL(expected->length, 9);
    for (uint32_t portions = 1; portions < 1u << (INPUTS - 1); portions++) {
        vp_lineage lineage = fresh();
        vp_positions *found = placed(portions, &lineage);
        CHECK_EQUAL(found->length, expected->length);
        for (uint64_t i = 0; i < found->length; i++) {
            CHECK_EQUAL(vp_compare(found->data[i], expected->data[i]), 0);
            CHECK_EQUAL(found->data[i].tree, expected->data[i].tree);
        }
        CHECK_EQUAL(lineage.children, whole.children);
        vp_positions_free(found);
    }
    vp_positions_free(expected);
}

static void test_outputs_ascend_below_one_position(void)
{
    vp_lineage lineage = fresh();
    vp_positions *out = placed(0, &lineage);
    for (uint64_t i = 1; i < out->length; i++)
        CHECK(vp_compare(out->data[i - 1], out->data[i]) < 0);
    CHECK_EQUAL(lineage.parent.ts, 3);
    CHECK_EQUAL(lineage.children, 6);
    vp_positions_free(out);
}

static void test_nothing_lies_below_the_floor(void)
{
    vp_lineage lineage = fresh();
    lineage.floor = (vp_position){2, 0, 0, 0};
    vp_positions *out = placed(1, &lineage);
    CHECK_EQUAL(vp_compare(out->data[0], lineage.floor), 0);
    CHECK_EQUAL(vp_compare(out->data[1], lineage.floor), 0);
    CHECK(vp_compare(out->data[2], lineage.floor) > 0);
    vp_positions_free(out);
}

static void test_ends_that_descend_change_nothing(void)
{
    static const uint32_t ends[] = {2, 1};
    vp_lineage lineage = fresh();
    vp_positions *inputs = vp_positions_new(), *out = vp_positions_new();
    CHECK(inputs && out);
    for (int64_t ts = 1; ts <= 2; ts++)
        CHECK_EQUAL(vp_positions_append(inputs, (vp_position){ts, 0, 0, 0}), 0);
    CHECK_EQUAL(vp_lineage_place(&lineage, out, inputs, 0, 2, &(vp_outputs){.ends = ends}, hop), VP_ENDS_DESCEND);
    CHECK_EQUAL(out->length, 0);
    CHECK_EQUAL(lineage.children, 0);
    vp_positions_free(inputs);
    vp_positions_free(out);
}

int main(void)
{
    test_portions_make_no_difference();
    test_outputs_ascend_below_one_position();
    test_nothing_lies_below_the_floor();
    test_ends_that_descend_change_nothing();
}
