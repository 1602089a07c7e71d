#include "line.h"

#include <string.h>

void vp_line_write(const vp_positions *positions, uint64_t first, uint64_t count, vp_position *into)
{
    for (uint64_t i = 0; i < count; i++)
        into[i] = vp_line_place(&positions->line, vp_line_number(positions, first + i));
}

/* Where in the cells what stands; the first cell has the first position. */
enum { ORIGIN = 1, STEP = 2, NUMBERS = 3 };

void vp_line_pack(const vp_positions *positions, uint64_t first, uint64_t count, vp_position *cells)
{
    const vp_line *line = &positions->line;
    bool numbered = positions->form == VP_NUMBERED;
    cells[0] = vp_line_place(line, vp_line_number(positions, first));
    cells[ORIGIN] = numbered ? line->origin : cells[0];
    cells[STEP] = line->step;
    cells[STEP].tree = numbered; /* no tree: whether there are numbers */
    if (numbered)
        memcpy(&cells[NUMBERS], positions->numbers + first, count * sizeof(uint32_t));
    cells[count - 1] = vp_line_place(line, vp_line_number(positions, first + count - 1));
}

const uint32_t *vp_line_packed_numbers(const vp_position *cells)
{
    return cells[STEP].tree ? (const uint32_t *)(const void *)&cells[NUMBERS] : NULL;
}

vp_line vp_line_packed(const vp_position *cells)
{
    vp_line line = {cells[ORIGIN], cells[STEP]};
    line.step.tree = 0;
    return line;
}

vp_position vp_line_packed_at(const vp_position *cells, uint64_t index)
{
    const vp_line line = vp_line_packed(cells);
    const uint32_t *numbers = vp_line_packed_numbers(cells);
    return vp_line_place(&line, numbers ? numbers[index] : index);
}
