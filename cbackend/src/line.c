#include "line.h"

#include <stddef.h>

#include "bits.h"

__extension__ typedef unsigned __int128 wide;

static inline wide path_of(vp_position position)
{
    return (wide)position.hi << 64 | position.lo;
}

vp_position vp_line_place(const vp_line *line, uint64_t input, uint64_t output)
{
    wide path = path_of(line->origin) + input * path_of(line->step) + output * path_of(line->unit);
    int64_t ts = (int64_t)((uint64_t)line->origin.ts + input * (uint64_t)line->step.ts);
    return (vp_position){ts, (uint64_t)(path >> 64), (uint64_t)path, 0};
}

vp_walk vp_walk_from(const vp_places *places, uint64_t length, uint64_t index)
{
    if (!places->bits)
        return (vp_walk){places, 0, index, 0};
    /* The first and the last one are asked for most, and found at once. */
    uint64_t bit = index + 1 == length ? places->end_bit - 1 : vp_bits_find(places->bits, places->first_bit, index);
    uint64_t input = bit - places->first_bit - index;
    uint64_t output = vp_bits_run_before(places->bits, places->first_bit, bit);
    return (vp_walk){places, bit, input, output + (input ? 0 : places->skipped)};
}

void vp_walk_on(vp_walk *walk)
{
    const uint64_t *bits = walk->places->bits;
    if (!bits) {
        walk->input++;
        return;
    }
    uint64_t next = vp_bit_at(bits, walk->bit + 1) ? walk->bit + 1 : vp_bits_next(bits, walk->bit + 1);
    uint64_t zeros = next - walk->bit - 1;
    walk->bit = next;
    walk->input += zeros;
    walk->output = zeros ? 0 : walk->output + 1;
}

vp_places vp_places_part(const vp_places *places, uint64_t length, uint64_t first, uint64_t count)
{
    const vp_walk from = vp_walk_from(places, length, first);
    vp_places part = *places;
    part.line.origin = vp_line_place(&places->line, from.input, 0);
    if (!places->bits)
        return part;
    part.first_bit = from.bit;
    part.end_bit = first + count == length ? places->end_bit : vp_bits_find(places->bits, from.bit, count - 1) + 1;
    part.skipped = from.output;
    return part;
}

void vp_places_write(const vp_places *places, uint64_t count, vp_position *into)
{
    vp_walk walk = vp_walk_from(places, count, 0);
    into[0] = vp_walk_place(&walk);
    for (uint64_t i = 1; i < count; i++) {
        vp_walk_on(&walk);
        into[i] = vp_walk_place(&walk);
    }
}

/* Where in the cells what stands; the first and the last cell have the first and the last position. */
enum { ORIGIN = 1, STEP = 2, UNIT = 3, BITS = 4, CELLS_BESIDE_BITS = 5 };

bool vp_places_fit(uint64_t bits, uint64_t count)
{
    return count > CELLS_BESIDE_BITS && vp_words_of(bits) <= (count - CELLS_BESIDE_BITS) * sizeof(vp_position) / sizeof(uint64_t);
}

bool vp_places_pack(const vp_places *places, uint64_t count, vp_position *cells)
{
    uint64_t bits = places->bits ? places->end_bit - places->first_bit : 0;
    if (!vp_places_fit(bits, count))
        return false;
    const vp_walk first = vp_walk_from(places, count, 0), last = vp_walk_from(places, count, count - 1);
    cells[0] = vp_walk_place(&first);
    cells[count - 1] = vp_walk_place(&last);
    cells[ORIGIN] = places->line.origin;
    cells[STEP] = places->line.step;
    cells[UNIT] = places->line.unit;
    /* None of these has a tree, so there is room for two numbers. */
    cells[ORIGIN].tree = bits;
    cells[STEP].tree = places->skipped;
    if (bits)
        vp_bits_copy((uint64_t *)(void *)&cells[BITS], places->bits, places->first_bit, bits);
    return true;
}

vp_places vp_places_packed(const vp_position *cells)
{
    const uint64_t bits = cells[ORIGIN].tree, *words = (const uint64_t *)(const void *)&cells[BITS];
    vp_places places = {
        .line = {cells[ORIGIN], cells[STEP], cells[UNIT]},
        .bits = bits ? words : NULL,
        .end_bit = bits,
        .skipped = cells[STEP].tree,
    };
    places.line.origin.tree = places.line.step.tree = 0;
    return places;
}
