/* How many tuples are not tracked: nobody replays them when they are lost. */
#ifndef VIPER_UNTRACKED_H
#define VIPER_UNTRACKED_H

#include "viper/position.h"

static inline uint64_t vp_untracked(const vp_position *positions, uint64_t count)
{
    uint64_t untracked = 0;
    for (uint64_t i = 0; i < count; i++)
        untracked += positions[i].tree == 0;
    return untracked;
}

#endif
