/* Positions on a line: whatever is done with them, it is as if each stood by itself. */
#include <string.h>

#include "check.h"

#include "line.h"
#include "reader.h"

enum { MOST = 200, ROUNDS = 20000 };

static const vp_level levels[] = {{96, 24, 8, 3}, {64, 24, 8, 5}, {40, 20, 4, 1}, {30, 6, 4, 2}, {0, 28, 2, 1}};
enum { LEVELS = sizeof levels / sizeof *levels };

static void expect_same(const vp_positions *found, const vp_positions *expected)
{
    CHECK_EQUAL(found->length, expected->length);
    for (uint64_t i = 0; i < found->length; i++) {
        vp_position one = vp_positions_at(found, i), other = vp_positions_at(expected, i);
        CHECK(vp_compare(one, other) == 0 && one.tree == other.tree);
    }
}

/* A copy, each position by itself. */
static vp_positions *apart(const vp_positions *positions)
{
    vp_positions *copy = vp_positions_new();
    CHECK_EQUAL(vp_positions_extend(copy, positions, 0, positions->length), 0);
    CHECK_EQUAL(vp_positions_apart(copy), 0);
    return copy;
}

/* What a source counts. */
static vp_positions *counted(uint64_t *state)
{
    vp_positions *made = vp_positions_new();
    CHECK_EQUAL(vp_positions_logical(made, (int64_t)random_below(state, 1000) - 500, random_below(state, MOST), levels[0]), 0);
    return made;
}

/* Outputs of inputs, told in one of the forms, and by ends. */
typedef struct {
    uint32_t ends[MOST * 8];
    uint64_t kept[MOST / 8];
    vp_outputs told, by_ends;
} drawn;

/* How often an input has how many. */
enum { EACH, MOST_OF_THEM, SOME, SEVERAL, MANY, KINDS };

static uint64_t draw_outputs(uint64_t *state, drawn *into, uint64_t count)
{
    const uint32_t kind = random_below(state, KINDS), by_ends = random_below(state, 2);
    uint32_t end = 0;
    memset(into->kept, 0, sizeof into->kept);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t more = kind == EACH           ? 1
                        : kind == MOST_OF_THEM ? random_below(state, 20) > 0
                        : kind == SOME         ? random_below(state, 2)
                        : kind == SEVERAL      ? random_below(state, 4)
                                               : random_below(state, 70) * (random_below(state, 8) == 0);
        into->ends[i] = end += more;
        into->kept[i / 64] |= (uint64_t)(more > 0) << i % 64;
    }
    into->by_ends = into->told = (vp_outputs){.ends = into->ends};
    if (kind == EACH && !by_ends)
        into->told = (vp_outputs){.ends = NULL};
    else if (kind < SEVERAL && !by_ends)
        into->told = (vp_outputs){.kept = into->kept};
    return end;
}

static vp_positions *children_of(vp_positions *parents, uint64_t first, uint64_t count, const vp_outputs *outputs,
                                 uint64_t ordinal, vp_level level, int64_t *saturated)
{
    vp_positions *out = vp_positions_new();
    *saturated = vp_positions_children(out, parents, first, count, outputs, ordinal, level);
    return out;
}

/* Down all levels, and at each the same as of positions apart. */
static void test_descent(void)
{
    uint64_t state = 1, on_line = 0, of_several = 0, told_by_bits = 0;
    drawn outputs;
    for (int round = 0; round < ROUNDS / 10; round++) {
        vp_positions *parents = counted(&state);
        for (int hop = 1; hop < LEVELS && parents->length; hop++) {
            uint64_t first = random_below(&state, (uint32_t)parents->length) / 4, count = parents->length - first;
            uint64_t ordinal = random_below(&state, 16) == 0;
            if (draw_outputs(&state, &outputs, count) > MOST * 8)
                break;
            vp_positions *same = apart(parents);
            int64_t saturated, expected;
            bool was_on_line = vp_positions_on_line(parents) && parents->places.bits;
            vp_positions *out = children_of(parents, first, count, &outputs.told, ordinal, levels[hop], &saturated);
            vp_positions *by_themselves = children_of(same, first, count, &outputs.by_ends, ordinal, levels[hop], &expected);
            CHECK_EQUAL(saturated, expected);
            expect_same(out, by_themselves);
            on_line += vp_positions_on_line(out);
            of_several += vp_positions_on_line(out) && was_on_line;
            told_by_bits += outputs.told.kept && vp_positions_on_line(out);
            vp_positions_free(same);
            vp_positions_free(by_themselves);
            vp_positions_free(parents);
            parents = out;
        }
        vp_positions_free(parents);
    }
    CHECK(on_line > ROUNDS / 10 && of_several > ROUNDS / 50 && told_by_bits > ROUNDS / 50); /* or nothing was tested */
}

/* Positions in any of the forms. */
static vp_positions *some_positions(uint64_t *state)
{
    vp_positions *parents = counted(state);
    drawn outputs;
    int64_t saturated;
    for (int hop = 1; hop < 3 && parents->length && random_below(state, 3); hop++) {
        draw_outputs(state, &outputs, parents->length);
        if (outputs.ends[parents->length - 1] > MOST)
            break;
        vp_positions *out = children_of(parents, 0, parents->length, &outputs.told, 0, levels[hop], &saturated);
        vp_positions_free(parents);
        parents = out;
    }
    return parents;
}

static void test_saturated_parents_leave_the_line(void)
{
    vp_positions *parents = vp_positions_new();
    vp_level narrow = {0, 2, 60, 1}, below = {0, 1, 0, 0};
    uint32_t ends[32];
    int64_t saturated;
    for (uint32_t i = 0; i < 32; i++)
        ends[i] = i + 1;
    CHECK_EQUAL(vp_positions_logical(parents, 0, 32, narrow), 0);
    vp_positions *out = children_of(parents, 0, 32, &(vp_outputs){.ends = ends}, 0, below, &saturated);
    CHECK_EQUAL(saturated, 32);
    CHECK(!vp_positions_on_line(out));
    vp_positions_free(out);
    vp_positions_free(parents);
}

static void expect_scattered(uint64_t *state, const vp_positions *positions, const vp_positions *same)
{
    uint16_t targets[3 * MOST];
    vp_positions *outs[2] = {vp_positions_new(), vp_positions_new()}, *expected[2] = {vp_positions_new(), vp_positions_new()};
    for (uint64_t i = 0; i < positions->length; i++)
        targets[i] = (uint16_t)random_below(state, 3); /* the last is none of the outs */
    CHECK_EQUAL(vp_positions_scatter(positions, targets, outs, 2), 0);
    CHECK_EQUAL(vp_positions_scatter(same, targets, expected, 2), 0);
    for (int i = 0; i < 2; i++) {
        expect_same(outs[i], expected[i]);
        vp_positions_free(outs[i]);
        vp_positions_free(expected[i]);
    }
}

/* Every function that reads or changes positions. */
static void test_arrays(void)
{
    uint64_t state = 2;
    for (int round = 0; round < ROUNDS / 10; round++) {
        vp_positions *line = some_positions(&state), *out = vp_positions_new(), *other = vp_positions_new();
        vp_positions *same = apart(line), *copy = vp_positions_new();
        for (int step = 0; step < 3 && line->length; step++) {
            uint64_t first = random_below(&state, (uint32_t)line->length), count = random_below(&state, (uint32_t)(line->length - first) + 1);
            CHECK_EQUAL(vp_positions_extend(out, line, first, count), 0);
            CHECK_EQUAL(vp_positions_extend(other, same, first, count), 0);
            expect_same(out, other);
        }
        expect_scattered(&state, out, other);
        uint8_t packed[24 * 3 * MOST], expected[24 * 3 * MOST];
        vp_positions_pack(out, packed);
        vp_positions_pack(other, expected);
        CHECK(memcmp(packed, expected, 24 * out->length) == 0);
        CHECK(!vp_positions_tracked(out, 0));
        vp_position floor = out->length ? vp_positions_at(out, out->length / 2) : at(0);
        vp_positions_extend(copy, out, 0, out->length);
        CHECK_EQUAL(vp_positions_raise(copy, floor), vp_positions_raise(other, floor));
        expect_same(copy, other);
        if (out->length) {
            CHECK_EQUAL(vp_positions_set_trees(out, (uint32_t[]){0}, (uint64_t[]){7}, 1), 0);
            CHECK(vp_positions_tracked(out, 0) && vp_positions_at(out, 0).tree == 7);
        }
        vp_positions *all[] = {line, out, other, same, copy};
        for (int i = 0; i < 5; i++)
            vp_positions_free(all[i]);
    }
}

/* Parts of a line that follow one another are one line again; where a part is left out they are not. */
static void test_parts_of_a_line(void)
{
    uint64_t state = 3, on_line = 0, left_out = 0;
    for (int round = 0; round < ROUNDS / 10; round++) {
        vp_positions *line = counted(&state), *same = apart(line), *out = vp_positions_new(), *other = vp_positions_new();
        bool follows = true;
        for (uint64_t first = 0; first < line->length;) {
            uint64_t count = 1 + random_below(&state, (uint32_t)(line->length - first));
            if (random_below(&state, 8)) {
                CHECK_EQUAL(vp_positions_extend(out, line, first, count), 0);
                CHECK_EQUAL(vp_positions_extend(other, same, first, count), 0);
                expect_same(out, other);
            } else if (out->length) {
                follows = false;
            }
            first += count;
        }
        bool is_all = follows && out->length && vp_positions_on_line(out);
        on_line += is_all;
        left_out += !follows;
        vp_positions *all[] = {line, same, out, other};
        for (int i = 0; i < 4; i++)
            vp_positions_free(all[i]);
    }
    CHECK(on_line > ROUNDS / 40 && left_out > ROUNDS / 200); /* or nothing was tested */
}

/* Through a ring, taken in parts, with a reader that is replaced in between. */
static void test_a_ring(uint32_t sources)
{
    uint64_t state = sources;
    vp_gate *gate = new_gate((vp_gate_shape){sources, 1, 8, 1024, 0, false});
    vp_merge *merge = vp_merge_new(gate, 0);
    vp_positions *added = vp_positions_new(), *taken = vp_positions_new(), *into = vp_positions_new();
    vp_run runs[8];
    drawn outputs;
    for (uint32_t i = 1; i < sources; i++)
        vp_ring_close(vp_gate_ring(gate, i));
    int64_t next = 0;
    uint64_t working = 0; /* of the latest take that brought any */
    for (int round = 0; round < ROUNDS; round++) {
        vp_positions *parents = vp_positions_new(), *out;
        uint32_t count = 1 + random_below(&state, MOST - 1);
        CHECK_EQUAL(vp_positions_logical(parents, next, count, levels[0]), 0);
        int64_t saturated;
        draw_outputs(&state, &outputs, count);
        out = children_of(parents, 0, count, &outputs.told, 0, levels[1], &saturated);
        uint64_t first = out->length ? random_below(&state, (uint32_t)out->length) : 0;
        if (out->length && vp_ring_claim(vp_gate_ring(gate, 0), out, first, out->length - first, 0) >= 0) {
            CHECK(vp_ring_publish(vp_gate_ring(gate, 0)));
            vp_position last = vp_positions_at(out, out->length - 1);
            CHECK_EQUAL(vp_compare(vp_ring_floor(vp_gate_ring(gate, 0)), last), 0);
            vp_positions_extend(added, out, first, out->length - first);
            next += count;
        }
        vp_positions_free(parents);
        vp_positions_free(out);
        into->length = 0;
        uint64_t before = taken->length, in_runs = 0;
        int64_t made = vp_merge_take(merge, into, random_below(&state, 4 * MOST), runs, 8);
        for (int64_t i = 0; i < made; i++)
            in_runs += runs[i].count;
        CHECK_EQUAL(in_runs, into->length);
        working = into->length ? into->length : working;
        vp_positions_extend(taken, into, 0, into->length);
        vp_merge_release(merge);
        for (uint64_t i = before; i < taken->length; i++)
            CHECK_EQUAL(vp_compare(vp_positions_at(taken, i), vp_positions_at(added, i)), 0);
        if (taken->length < added->length && random_below(&state, 2)) /* the next one that is waited for */
            CHECK_EQUAL(vp_compare(vp_merge_frontier(merge), vp_positions_at(added, taken->length)), 0);
        if (random_below(&state, 50) == 0) {
            vp_merge_free(merge);
            CHECK_EQUAL(vp_gate_bury_reader(gate, 0), working);
            working = 0;
            merge = vp_merge_new(gate, 0);
            vp_ring_recover(vp_gate_ring(gate, 0));
        }
    }
    CHECK(taken->length > ROUNDS);
    CHECK_EQUAL(vp_ring_drop(vp_gate_ring(gate, 0), 0), added->length - taken->length);
    vp_merge_free(merge);
    vp_positions *all[] = {added, taken, into};
    for (int i = 0; i < 3; i++)
        vp_positions_free(all[i]);
    free(gate);
}

int main(void)
{
    test_descent();
    test_saturated_parents_leave_the_line();
    test_arrays();
    test_parts_of_a_line();
    test_a_ring(1);
    test_a_ring(2);
}
