/* The lineage of a task's outputs: each lies below the input that it was emitted for, in whatever portions
 * inputs are processed and outputs are placed. */
#ifndef VIPER_LINEAGE_H
#define VIPER_LINEAGE_H

#include <stdint.h>

#include "viper/position.h"

/* What a task remembers from one portion to the next. It starts as {least position, 0, least position}. */
typedef struct {
    vp_position parent; /* below which the last outputs were placed */
    uint64_t children;  /* how many were placed below it so far */
    vp_position floor;  /* no output is placed below this */
} vp_lineage;

/* Appends the outputs of inputs[first, first + count), as vp_positions_children does, which go on where those
 * of an input at the same position have ended; count is above 0. What would lie below the floor lies at it.
 * Returns how many were placed by saturation, or VP_NO_MEMORY or VP_ENDS_DESCEND: then nothing has changed. */
int64_t vp_lineage_place(vp_lineage *lineage, vp_positions *out, vp_positions *inputs, uint64_t first,
                         uint64_t count, const vp_outputs *outputs, vp_level level);

#endif
