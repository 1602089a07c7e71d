/* Used by one thread. */
#include "viper/lineage.h"

#include "line.h"
#include "order.h"
#include "outputs.h"
#include "viper/ring.h"

/* The last input is the parent of what comes next. Inputs at its own position share one count with it. */
static void remember(vp_lineage *lineage, const vp_positions *inputs, uint64_t first, uint64_t count,
                     const vp_outputs *outputs, uint64_t before)
{
    const vp_position last = vp_positions_at(inputs, first + count - 1);
    uint64_t start = count - 1;
    if (!vp_positions_on_line(inputs)) /* where no two are the same */
        while (start > 0 && vp_compare(inputs->data[first + start - 1], last) == 0)
            start--;
    lineage->parent = last;
    lineage->children = vp_outputs_of(outputs, start, count) + (start > 0 ? 0 : before);
}

int64_t vp_lineage_place(vp_lineage *lineage, vp_positions *out, vp_positions *inputs, uint64_t first,
                         uint64_t count, const vp_outputs *outputs, vp_level level)
{
    const bool goes_on = vp_compare(vp_positions_at(inputs, first), lineage->parent) == 0;
    const uint64_t before = goes_on ? lineage->children : 0;
    const int64_t saturated = vp_positions_children(out, inputs, first, count, outputs, before, level);
    if (saturated < 0)
        return saturated;
    remember(lineage, inputs, first, count, outputs, before);
    if (vp_compare(lineage->floor, VP_LEAST) > 0 && vp_positions_raise(out, lineage->floor) < 0)
        return VP_NO_MEMORY;
    return saturated;
}
