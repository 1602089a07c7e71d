/* Positions on a line: so far apart from each other that a few words tell all of them.
 *
 * What a source counts lies on a line, and so do outputs, one for each of some inputs that lie on one. Where rows
 * travel as columns, making, copying and reading 32 bytes a row is most of what the layer costs: two thirds of a filter
 * on three columns. On a line a row costs nothing, or the 4 bytes that say which of the line's places it takes.
 */
#ifndef VIPER_LINE_H
#define VIPER_LINE_H

#include <stdbool.h>

#include "viper/position.h"

enum { VP_LEAST_ON_LINE = 16 }; /* fewer positions are not worth the difference */

__extension__ typedef unsigned __int128 vp_wide;

static inline vp_position vp_line_place(const vp_line *line, uint64_t number)
{
    vp_wide path = ((vp_wide)line->origin.hi << 64 | line->origin.lo) +
                   number * ((vp_wide)line->step.hi << 64 | line->step.lo);
    int64_t ts = (int64_t)((uint64_t)line->origin.ts + number * (uint64_t)line->step.ts);
    return (vp_position){ts, (uint64_t)(path >> 64), (uint64_t)path, 0};
}

static inline bool vp_positions_on_line(const vp_positions *positions)
{
    return positions->form != VP_APART && positions->length > 0;
}

/* The number on the line of the position at an index. */
static inline uint64_t vp_line_number(const vp_positions *positions, uint64_t index)
{
    return positions->form == VP_NUMBERED ? positions->numbers[index] : index;
}

/* Writes [first, first + count) of positions that lie on a line. */
void vp_line_write(const vp_positions *positions, uint64_t first, uint64_t count, vp_position *into);

/* Writes [first, first + count) into `count` cells of a ring: the first and the last one into the first and the last
 * cell, where whoever looks for them finds them, and the line and the numbers in between. */
void vp_line_pack(const vp_positions *positions, uint64_t first, uint64_t count, vp_position *cells);

/* The position at an index of such cells. */
vp_position vp_line_packed_at(const vp_position *cells, uint64_t index);

/* The line of such cells, and their numbers or NULL. */
vp_line vp_line_packed(const vp_position *cells);
const uint32_t *vp_line_packed_numbers(const vp_position *cells);

#endif
