/* For a reader to know in one call what there is to do for it, and to tell its consumers. */
#include "viper/merge.h"
#include "order.h"

void vp_merge_outlook(vp_merge *merge, vp_outlook *outlook)
{
    outlook->frontier = vp_merge_frontier(merge);
    outlook->until_ts = vp_merge_until_ts(merge);
    outlook->ready = vp_merge_ready(merge);
}

bool vp_merge_drained(vp_merge *merge)
{
    return vp_compare(vp_merge_frontier(merge), VP_END) == 0;
}
