/* The total order of positions, and its ends. */
#ifndef VIPER_ORDER_H
#define VIPER_ORDER_H

#include "viper/position.h"

/* Below every tuple. */
#define VP_LEAST ((vp_position){INT64_MIN, 0, 0, 0})
/* Above every tuple: no tuple may have it. */
#define VP_END ((vp_position){INT64_MAX, UINT64_MAX, UINT64_MAX, 0})

/* Negative, zero or positive, as a lies before, at or after b, whatever their trees. */
static inline int vp_compare(vp_position a, vp_position b)
{
    if (a.ts != b.ts)
        return a.ts < b.ts ? -1 : 1;
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return (a.lo > b.lo) - (a.lo < b.lo);
}

#endif
