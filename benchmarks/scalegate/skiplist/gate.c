#include "layout.h"
#include "order.h"
#include "pool.h"

static uint64_t power_of_two(uint64_t at_least)
{
    uint64_t power = 1;
    while (power < at_least)
        power *= 2;
    return power;
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + SL_LINE - 1) / SL_LINE * SL_LINE;
}

/* Takes a region of that many bytes, on cache lines of its own. */
static uint64_t place(uint64_t *end, uint64_t bytes)
{
    uint64_t at = *end;
    *end += rounded(bytes);
    return at;
}

/* The gate's header, and how many bytes it speaks of. */
static uint64_t lay_out(sl_gate *gate, sl_size size)
{
    uint64_t sources = size.sources, end = 0;
    gate->source_count = size.sources;
    gate->reader_count = size.readers;
    gate->slot_count = power_of_two(size.slots);
    gate->tuple_count = power_of_two(size.tuples);
    /* Two for each tuple, some for marks, and rests of one run of each other source (run.c): so where
     * positions fit, nodes do. */
    gate->node_count = power_of_two(2 * gate->tuple_count + sources + 8);
    gate->pool_bytes = rounded(sizeof(sl_pool) + 4 * gate->node_count * sizeof(uint32_t));
    gate->passes_bytes = rounded((1 + sources * gate->node_count) * sizeof(uint32_t));
    place(&end, sizeof *gate);
    gate->sources_at = place(&end, sources * sizeof(sl_source));
    gate->turns_at = place(&end, sources * sources * sizeof(uint64_t));
    gate->rests_at = place(&end, sources * sources * sizeof(sl_place));
    gate->done_at = place(&end, size.readers * sources * sizeof(sl_done));
    gate->passes_at = place(&end, size.readers * gate->passes_bytes);
    gate->nodes_at = place(&end, (1 + sources * gate->node_count) * sizeof(sl_node));
    gate->pools_at = place(&end, sources * gate->pool_bytes);
    gate->slots_at = place(&end, sources * gate->slot_count * sizeof(sl_slot));
    gate->positions_at = place(&end, sources * gate->tuple_count * sizeof(vp_position));
    return end;
}

uint64_t sl_gate_size(sl_size size)
{
    sl_gate gate = {0};
    return lay_out(&gate, size);
}

/* Every source begins with a mark, so that readers wait for those that have not spoken. The marks are
 * linked from the last to the first; returns the index of this one. */
static uint32_t open_source(sl_gate *gate, uint32_t source, uint32_t next)
{
    sl_pool_format(gate, source);
    uint32_t mark = (uint32_t)sl_pool_take(gate, source, false);
    *sl_node_at(gate, mark) = (sl_node){.link = sl_link(0, next), .first = sl_spot_of(VP_LEAST), .tie = sl_tie(source, 0)};
    *sl_source_of(gate, source) = (sl_source){
        .written = 1, .last = mark, .items = 1, .items_taken = 1, .floor = VP_LEAST, .random = source,
    };
    return mark;
}

sl_gate *sl_gate_format(void *region, sl_size size)
{
    sl_gate *gate = region;
    lay_out(gate, size);
    for (uint32_t source = size.sources; source-- > 0;)
        gate->first = open_source(gate, source, gate->first);
    return gate;
}
