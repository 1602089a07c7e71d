/* What appends to a growable array from memory that is not one. */
#ifndef VIPER_POSITIONS_H
#define VIPER_POSITIONS_H

#include "viper/position.h"

/* Makes room for `more` positions behind the last, which are apart then; 0, or VP_NO_MEMORY. */
int vp_positions_reserve(vp_positions *positions, uint64_t more);

/* Makes room for so many numbers of an array that is empty; 0, or VP_NO_MEMORY. */
int vp_positions_reserve_numbers(vp_positions *positions, uint64_t count);

/* Appends `count` places of a line: those with the given numbers or, where these are NULL, from number `first` on.
 * An empty array lies on the line then. 0, or VP_NO_MEMORY. */
int vp_line_extend(vp_positions *out, const vp_line *line, const uint32_t *numbers, uint64_t first, uint64_t count);

/* Appends [first, first + count) of such cells; 0, or VP_NO_MEMORY. */
int vp_line_unpack(vp_positions *out, const vp_position *cells, uint64_t first, uint64_t count);

#endif
