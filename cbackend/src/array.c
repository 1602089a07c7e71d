/* Arrays of positions: how they grow, and how they are held. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    free(positions->numbers);
    free(positions);
}

int vp_positions_apart(vp_positions *positions)
{
    if (!vp_positions_on_line(positions)) {
        positions->form = VP_APART;
        return 0;
    }
    uint64_t count = positions->length;
    positions->length = 0; /* so that nothing is copied */
    int failed = grow(positions, count);
    positions->length = count;
    if (failed)
        return VP_NO_MEMORY;
    vp_line_write(positions, 0, count, positions->data);
    positions->form = VP_APART;
    return 0;
}

vp_position vp_positions_at(const vp_positions *positions, uint64_t index)
{
    if (positions->form == VP_APART)
        return positions->data[index];
    return vp_line_place(&positions->line, vp_line_number(positions, index));
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

/* Makes room for so many numbers of an array that is empty; 0, or VP_NO_MEMORY. */
int vp_positions_reserve_numbers(vp_positions *positions, uint64_t count)
{
    if (count <= positions->number_capacity)
        return 0;
    if (count > SIZE_MAX / sizeof(uint32_t))
        return VP_NO_MEMORY;
    uint32_t *numbers = realloc(positions->numbers, count * sizeof *numbers);
    if (!numbers)
        return VP_NO_MEMORY;
    positions->numbers = numbers;
    positions->number_capacity = count;
    return 0;
}

/* Appends places of a line to positions that are not empty. */
static int append_apart(vp_positions *out, const vp_line *line, const uint32_t *numbers, uint64_t first, uint64_t count)
{
    if (vp_positions_reserve(out, count))
        return VP_NO_MEMORY;
    for (uint64_t i = 0; i < count; i++)
        out->data[out->length++] = vp_line_place(line, numbers ? numbers[i] : first + i);
    return 0;
}

/* Whether a place of a line is the next one for positions that lie one after the other on such a line, as what a source
 * counts does: several batches of its rows are one line then. */
static bool follows(const vp_positions *out, const vp_line *line, uint64_t first)
{
    if (!out->length || out->form != VP_CONSECUTIVE)
        return false;
    const vp_position *step = &out->line.step;
    if (step->ts != line->step.ts || step->hi != line->step.hi || step->lo != line->step.lo)
        return false;
    const vp_position next = vp_line_place(&out->line, out->length), found = vp_line_place(line, first);
    return next.ts == found.ts && next.hi == found.hi && next.lo == found.lo;
}

int vp_line_extend(vp_positions *out, const vp_line *line, const uint32_t *numbers, uint64_t first, uint64_t count)
{
    if (count == 0)
        return 0;
    if (!numbers && follows(out, line, first)) {
        out->length += count;
        return 0;
    }
    if (out->length || count < VP_LEAST_ON_LINE)
        return append_apart(out, line, numbers, first, count);
    if (numbers) {
        if (vp_positions_reserve_numbers(out, count))
            return VP_NO_MEMORY;
        memcpy(out->numbers, numbers, count * sizeof *numbers);
        out->line = *line;
    } else {
        out->line = (vp_line){vp_line_place(line, first), line->step};
    }
    out->form = numbers ? VP_NUMBERED : VP_CONSECUTIVE;
    out->length = count;
    return 0;
}

int vp_positions_extend(vp_positions *out, const vp_positions *from, uint64_t first, uint64_t count)
{
    if (count == 0)
        return 0;
    if (vp_positions_on_line(from) && from != out)
        return vp_line_extend(out, &from->line, from->form == VP_NUMBERED ? from->numbers + first : NULL, first, count);
    if (vp_positions_reserve(out, count)) /* `from` is apart then, too, if it is `out` */
        return VP_NO_MEMORY;
    if (vp_positions_on_line(from))
        vp_line_write(from, first, count, out->data + out->length);
    else
        memcpy(out->data + out->length, from->data + first, count * sizeof *from->data);
    out->length += count;
    return 0;
}

int vp_line_unpack(vp_positions *out, const vp_position *cells, uint64_t first, uint64_t count)
{
    const vp_line line = vp_line_packed(cells);
    const uint32_t *numbers = vp_line_packed_numbers(cells);
    return vp_line_extend(out, &line, numbers ? numbers + first : NULL, first, count);
}
