/* The total order of items. No two are equal, so the list does not depend on who was faster. */
#ifndef SCALEGATE_KEY_H
#define SCALEGATE_KEY_H

#include <stdbool.h>

#include "order.h"

typedef struct {
    vp_position position;
    uint64_t tie; /* source, number */
} sl_key;

static inline bool sl_precedes(sl_key a, sl_key b)
{
    int order = vp_compare(a.position, b.position);
    return order < 0 || (order == 0 && a.tie < b.tie);
}

/* How many of `count` positions, items from `tie` on, lie before `bound`. `least` of them are known to.
 * Found by doubling steps and bisection, so that short stretches of long runs are cheap. */
static inline uint32_t sl_stretch(const vp_position *positions, uint32_t count, uint64_t tie, sl_key bound,
                                  uint32_t least)
{
    uint32_t low = least, high = count, step = 1; /* those below low do, the one at high does not */
    while (low + step <= high && sl_precedes((sl_key){positions[low + step - 1], tie + low + step - 1}, bound)) {
        low += step;
        step *= 2;
    }
    if (low + step <= high)
        high = low + step - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sl_precedes((sl_key){positions[middle], tie + middle}, bound))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
