/* Arrays of positions: how they grow, and how they are held. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "line.h"
#include "positions.h"

enum { SMALLEST_CAPACITY = 16 };

static int grow(vp_positions *positions, uint64_t more)
{
    if (more <= positions->capacity - positions->length)
        return 0;
    if (more > SIZE_MAX / sizeof(vp_position) / 2 - positions->length)
        return VP_NO_MEMORY;
    /* Doubling keeps the cost per position constant. */
    uint64_t capacity = positions->capacity ? positions->capacity : SMALLEST_CAPACITY;
    while (capacity < positions->length + more)
        capacity *= 2;
    vp_position *data = realloc(positions->data, capacity * sizeof *data);
    if (!data)
        return VP_NO_MEMORY;
    positions->data = data;
    positions->capacity = capacity;
    return 0;
}

vp_positions *vp_positions_new(void)
{
    return calloc(1, sizeof(vp_positions));
}

void vp_positions_free(vp_positions *positions)
{
    free(positions->data);
    free(positions->words);
    free(positions);
}

int vp_positions_apart(vp_positions *positions)
{
    if (!vp_positions_on_line(positions)) {
        positions->is_line = false;
        return 0;
    }
    uint64_t count = positions->length;
    positions->length = 0; /* so that nothing is copied */
    int failed = grow(positions, count);
    positions->length = count;
    if (failed)
        return VP_NO_MEMORY;
    vp_places_write(&positions->places, count, positions->data);
    positions->is_line = false;
    return 0;
}

vp_position vp_positions_at(const vp_positions *positions, uint64_t index)
{
    if (!positions->is_line)
        return positions->data[index];
    const vp_walk walk = vp_walk_from(&positions->places, positions->length, index);
    return vp_walk_place(&walk);
}

int64_t vp_positions_last_ts(const vp_positions *positions)
{
    return positions->length ? vp_positions_at(positions, positions->length - 1).ts : INT64_MIN;
}

int vp_positions_reserve(vp_positions *positions, uint64_t more)
{
    return vp_positions_apart(positions) ? VP_NO_MEMORY : grow(positions, more);
}

int vp_positions_append(vp_positions *out, vp_position position)
{
    if (vp_positions_reserve(out, 1))
        return VP_NO_MEMORY;
    out->data[out->length++] = position;
    return 0;
}

int vp_positions_reserve_words(vp_positions *positions, uint64_t count)
{
    if (count <= positions->word_capacity)
        return 0;
    if (count > SIZE_MAX / sizeof(uint64_t))
        return VP_NO_MEMORY;
    uint64_t *words = realloc(positions->words, count * sizeof *words);
    if (!words)
        return VP_NO_MEMORY;
    positions->words = words;
    positions->word_capacity = count;
    return 0;
}

/* Whether places follow those of positions, one for each input of one line, as several batches of a source do: they are
 * one line then. */
static bool follows(const vp_positions *out, const vp_places *places)
{
    const vp_line *line = &out->places.line;
    const vp_position *step = &line->step, *other = &places->line.step;
    if (!vp_positions_on_line(out) || out->places.bits || places->bits)
        return false;
    if (step->ts != other->ts || step->hi != other->hi || step->lo != other->lo)
        return false;
    const vp_position next = vp_line_place(line, out->length, 0), found = places->line.origin;
    return next.ts == found.ts && next.hi == found.hi && next.lo == found.lo;
}

/* Has positions, of which there are none, lie on a line. */
static int lay(vp_positions *out, const vp_places *places, uint64_t count)
{
    uint64_t bits = places->bits ? places->end_bit - places->first_bit : 0;
    if (vp_positions_reserve_words(out, vp_words_of(bits)))
        return VP_NO_MEMORY;
    vp_bits_copy(out->words, places->bits, places->first_bit, bits);
    vp_positions_lie(out, *places, bits, count);
    return 0;
}

void vp_positions_lie(vp_positions *out, vp_places places, uint64_t bits, uint64_t count)
{
    places.bits = bits ? out->words : NULL;
    places.first_bit = 0;
    places.end_bit = bits;
    out->places = places;
    out->is_line = true;
    out->length = count;
}

int vp_positions_extend_on(vp_positions *out, const vp_places *places, uint64_t count)
{
    if (count == 0)
        return 0;
    if (follows(out, places)) {
        out->length += count;
        return 0;
    }
    if (!out->length && count >= VP_LEAST_ON_LINE)
        return lay(out, places, count);
    if (vp_positions_reserve(out, count))
        return VP_NO_MEMORY;
    vp_places_write(places, count, out->data + out->length);
    out->length += count;
    return 0;
}

int vp_positions_extend(vp_positions *out, const vp_positions *from, uint64_t first, uint64_t count)
{
    if (count == 0)
        return 0;
    if (vp_positions_on_line(from) && from != out) {
        const vp_places part = vp_places_part(&from->places, from->length, first, count);
        return vp_positions_extend_on(out, &part, count);
    }
    if (vp_positions_reserve(out, count)) /* `from` is apart then, too, if it is `out` */
        return VP_NO_MEMORY;
    memcpy(out->data + out->length, from->data + first, count * sizeof *from->data);
    out->length += count;
    return 0;
}

int vp_positions_interleave(vp_positions *out, vp_positions *const *from, uint64_t *firsts, uint32_t from_count,
                            const uint16_t *order, uint64_t count)
{
    for (uint32_t i = 0; i < from_count; i++)
        if (vp_positions_apart(from[i]))
            return VP_NO_MEMORY;
    if (vp_positions_reserve(out, count))
        return VP_NO_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        const uint16_t index = order[i];
        if (index >= from_count || firsts[index] >= from[index]->length) {
            out->length -= i;
            while (i-- > 0)
                firsts[order[i]]--;
            return VP_OUT_OF_RANGE;
        }
        out->data[out->length++] = from[index]->data[firsts[index]++];
    }
    return 0;
}
