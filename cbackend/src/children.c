/* The positions of outputs, each of which lies below that of its input. */
#include <stddef.h>

#include "bits.h"
#include "field.h"
#include "line.h"
#include "outputs.h"
#include "positions.h"

/* What functions here return that write bits, where positions had better stand by themselves. */
enum { NOT_ON_LINE = 0 };

/* Whether positions on a line have distinct paths above a level and nothing at it or below, so that outputs of theirs
 * lie on a line as well. */
static bool leaves_room(const vp_line *line, const vp_field *field)
{
    const vp_position *step = &line->step, *origin = &line->origin, *unit = &line->unit;
    bool differ = step->ts || step->hi & field->above.hi || step->lo & field->above.lo;
    uint64_t below_hi = (step->hi | origin->hi | unit->hi) & ~field->above.hi;
    uint64_t below_lo = (step->lo | origin->lo | unit->lo) & ~field->above.lo;
    return differ && !below_hi && !below_lo;
}

static bool are_one_each(const vp_outputs *outputs, uint64_t count, uint64_t made)
{
    uint64_t differ = made != count;
    for (uint64_t i = 0; outputs->ends && !differ && i < count; i++)
        differ = outputs->ends[i] != i + 1;
    return !differ;
}

/* The bits of outputs up to the last one. */
static uint64_t trimmed(const vp_bits *bits)
{
    uint64_t length = bits->length;
    while (!vp_bit_at(bits->words, length - 1))
        length--;
    return length;
}

/* For each input a one and a zero, or a zero only where it was not kept. */
static uint64_t write_kept(vp_bits *bits, const uint64_t *kept, uint64_t count)
{
    enum { AT_ONCE = 32 };
    for (uint64_t i = 0; i < count; i += AT_ONCE) {
        uint64_t left = count - i < AT_ONCE ? count - i : AT_ONCE, word = vp_bits_read(kept, i, left);
        while (left > 0) {
            uint64_t zeros = ~word & vp_ones(left), ones = zeros ? (uint64_t)__builtin_ctzll(zeros) : left;
            if (ones > 0)
                vp_bits_append(bits, UINT64_C(0x5555555555555555) & vp_ones(2 * ones), 2 * ones);
            if (ones < left)
                vp_bits_append(bits, 0, 1);
            word >>= ones + 1; /* 33 at most */
            left -= ones < left ? ones + 1 : ones;
        }
    }
    return trimmed(bits);
}

/* For each input as many ones as it has outputs, and a zero; none may have `limit` of them or more. */
static uint64_t write_counts(vp_bits *bits, const uint32_t *ends, uint64_t count, uint64_t limit)
{
    uint32_t before = 0, last = ends[count - 1];
    for (uint64_t i = 0; i < count; before = ends[i++]) {
        uint64_t more = ends[i] - before;
        if (ends[i] < before || ends[i] > last || more >= limit)
            return NOT_ON_LINE;
        for (; more > 63; more -= 63)
            vp_bits_append(bits, vp_ones(63), 63);
        vp_bits_append(bits, vp_ones(more), more + 1);
    }
    return trimmed(bits);
}

/* The bits of which of so many positions, from one on, have an output; false where one has several. */
static bool read_kept(const vp_outputs *outputs, uint64_t first, uint64_t count, uint64_t *kept)
{
    if (!outputs->ends) {
        *kept = vp_bits_read(outputs->kept, first, count);
        return true;
    }
    uint32_t before = first ? outputs->ends[first - 1] : 0;
    *kept = 0;
    for (uint64_t i = 0; i < count; before = outputs->ends[first + i++]) {
        uint32_t more = outputs->ends[first + i] - before;
        if (more > 1)
            return false;
        *kept |= (uint64_t)more << i;
    }
    return true;
}

/* Appends bits of places without the ones of positions that are not kept. False where an input has other positions
 * beside such a one, whose numbers would change. */
static bool thin_out(vp_bits *bits, const vp_places *places, uint64_t first, uint64_t count, uint64_t kept)
{
    uint64_t left = 0, length = 0;
    for (uint64_t bit = first; bit < first + count; bit++) {
        bool is_one = vp_bit_at(places->bits, bit), stays = !is_one || kept & 1;
        if (is_one)
            kept >>= 1;
        if (stays)
            left |= (uint64_t)is_one << length++;
        else if ((bit > places->first_bit && vp_bit_at(places->bits, bit - 1)) ||
                 (bit + 1 < places->end_bit && vp_bit_at(places->bits, bit + 1)))
            return false;
    }
    if (length > 0)
        vp_bits_append(bits, left, length);
    return true;
}

/* The bits of places, without those of positions that have no output. */
static uint64_t write_thinned(vp_bits *bits, const vp_places *places, const vp_outputs *outputs)
{
    uint64_t index = 0;
    for (uint64_t bit = places->first_bit, count; bit < places->end_bit; bit += count) {
        count = places->end_bit - bit < 64 ? places->end_bit - bit : 64;
        uint64_t word = vp_bits_read(places->bits, bit, count), ones = vp_bits_ones(&word, count), kept = 0;
        if (ones > 0 && !read_kept(outputs, index, ones, &kept))
            return NOT_ON_LINE;
        index += ones;
        if (kept == vp_ones(ones))
            vp_bits_append(bits, word, count);
        else if (!thin_out(bits, places, bit, count, kept))
            return NOT_ON_LINE;
    }
    return trimmed(bits);
}

/* Writes the bits of outputs, and the unit between those of one input where they are several; how many bits there are, or
 * NOT_ON_LINE. */
static uint64_t write_bits(vp_bits *bits, vp_places *places, uint64_t count, const vp_outputs *outputs,
                           const vp_field *field)
{
    if (places->bits)
        return write_thinned(bits, places, outputs);
    const vp_path unit = vp_path_of(1, field->offset);
    places->line.unit = (vp_position){.hi = unit.hi, .lo = unit.lo};
    if (outputs->ends)
        return write_counts(bits, outputs->ends, count, field->reserved);
    return write_kept(bits, outputs->kept, count);
}

/* Places outputs of positions on a line; 1, or 0 where they had better stand by themselves, or VP_NO_MEMORY. */
static int children_on_line(vp_positions *out, const vp_positions *parents, uint64_t first, uint64_t count,
                            const vp_outputs *outputs, uint64_t made, vp_level level)
{
    const vp_field field = vp_field_of(level);
    int64_t saturated = 0;
    if (made < VP_LEAST_ON_LINE || !leaves_room(&parents->places.line, &field))
        return 0;
    vp_places places = vp_places_part(&parents->places, parents->length, first, count);
    places.line.origin = vp_field_place(&field, places.line.origin, 1, &saturated);
    const bool are_same = are_one_each(outputs, count, made);
    uint64_t length = places.bits ? places.end_bit - places.first_bit : are_same ? 0 : count + made;
    if (saturated || !vp_places_fit(length, made))
        return 0;
    if (vp_positions_reserve_words(out, vp_words_of(length) + 1)) /* a word more, as appending may begin it */
        return VP_NO_MEMORY;
    if (are_same) {
        vp_bits_copy(out->words, places.bits, places.first_bit, length);
    } else {
        vp_bits bits = {out->words, 0};
        length = write_bits(&bits, &places, count, outputs, &field);
        if (length == NOT_ON_LINE)
            return 0;
    }
    vp_positions_lie(out, places, length, made);
    return 1;
}

/* Each by itself. */
static int64_t children_apart(vp_positions *out, const vp_position *parents, uint64_t count, const vp_outputs *outputs,
                              uint64_t made, uint64_t ordinal, vp_level level)
{
    const vp_field field = vp_field_of(level);
    vp_position *children = out->data + out->length;
    int64_t saturated = 0;
    uint64_t output = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t end = outputs->ends ? outputs->ends[i] : output + vp_outputs_of(outputs, i, i + 1);
        if (end < output || end > made)
            return VP_ENDS_DESCEND;
        /* Equal parents happen: what a timer or a thread emits takes the position its task has come to. */
        if (i > 0 && !vp_field_same_above(&field, parents[i], parents[i - 1]))
            ordinal = 0;
        for (; output < end; output++) {
            ordinal += ordinal < UINT64_MAX; /* which no level has room for: it must not begin anew */
            children[output] = vp_field_place(&field, parents[i], ordinal, &saturated);
        }
    }
    out->length += output;
    return saturated;
}

/* What there is to say of parents without outputs, whose positions nobody needs. */
static int check_none(const vp_outputs *outputs, uint64_t count)
{
    uint32_t any = 0;
    for (uint64_t i = 0; outputs->ends && i < count; i++)
        any |= outputs->ends[i];
    return any ? VP_ENDS_DESCEND : 0;
}

int64_t vp_positions_children(vp_positions *out, vp_positions *parents, uint64_t first, uint64_t count,
                              const vp_outputs *outputs, uint64_t first_ordinal, vp_level level)
{
    const uint64_t made = vp_outputs_in_all(outputs, count);
    if (made == 0)
        return check_none(outputs, count);
    if (vp_positions_on_line(parents) && !out->length && !first_ordinal) {
        int done = children_on_line(out, parents, first, count, outputs, made, level);
        if (done)
            return done < 0 ? done : 0;
    }
    if (vp_positions_reserve(out, made) || vp_positions_apart(parents))
        return VP_NO_MEMORY;
    return children_apart(out, parents->data + first, count, outputs, made, first_ordinal, level);
}
