/* What appends to a growable array from memory that is not one. */
#ifndef VIPER_POSITIONS_H
#define VIPER_POSITIONS_H

#include "viper/position.h"

/* Makes room for `more` positions behind the last, which are apart then; 0, or VP_NO_MEMORY. */
int vp_positions_reserve(vp_positions *positions, uint64_t more);

/* Makes room for so many words of bits in an array that is empty; 0, or VP_NO_MEMORY. */
int vp_positions_reserve_words(vp_positions *positions, uint64_t count);

/* Has an array that is empty lie on a line, with so many bits that are in its words already. */
void vp_positions_lie(vp_positions *out, vp_places places, uint64_t bits, uint64_t count);

/* Appends so many places, all that there are. An empty array lies on their line then. 0, or VP_NO_MEMORY. */
int vp_positions_extend_on(vp_positions *out, const vp_places *places, uint64_t count);

#endif
