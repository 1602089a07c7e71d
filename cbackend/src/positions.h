/* What appends to a growable array from memory that is not one. */
#ifndef VIPER_POSITIONS_H
#define VIPER_POSITIONS_H

#include "viper/position.h"

/* Makes room for `more` positions behind the last; 0, or VP_NO_MEMORY. */
int vp_positions_reserve(vp_positions *positions, uint64_t more);

#endif
