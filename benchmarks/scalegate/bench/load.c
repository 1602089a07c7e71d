#include "load.h"

#include <stdlib.h>

#include "order.h"

const char *const load_names[LOADS] = {"disjoint", "interleaved"};

b_load load_of(load_kind kind, uint32_t source, uint32_t sources, uint32_t jumbo, uint64_t tuples)
{
    return (b_load){
        .kind = kind, .source = source, .sources = sources, .jumbo = jumbo, .left = tuples, .random = source,
    };
}

/* How far a tuple lies behind the one before it. The average is the number of sources, so that these
 * advance side by side; for one source that is 1 as well. */
static uint32_t random_gap(b_load *load)
{
    load->random = load->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1 + (uint32_t)((load->random >> 32) * (2 * load->sources - 1) >> 32);
}

uint32_t load_next(b_load *load, vp_position *into)
{
    uint32_t count = load->left < load->jumbo ? (uint32_t)load->left : load->jumbo;
    if (load->kind == LOAD_DISJOINT)
        load->ts = (int64_t)((load->begun * load->sources + load->source) * load->jumbo);
    for (uint32_t i = 0; i < count; i++) {
        load->ts += load->kind == LOAD_DISJOINT ? 1 : random_gap(load);
        into[i] = (vp_position){load->ts, 1, 0, 0};
    }
    load->left -= count;
    load->begun++;
    return count;
}

uint64_t load_checksum(uint64_t checksum, vp_position position, uint32_t source)
{
    return (checksum ^ (uint64_t)position.ts ^ (uint64_t)source << 48) * UINT64_C(1099511628211) + 1;
}

typedef struct {
    vp_position position;
    uint32_t source;
} tuple; /* a source's timestamps ascend strictly, so its numbers need not be kept */

static int compare(const void *left, const void *right)
{
    const tuple *a = left, *b = right;
    int order = vp_compare(a->position, b->position);
    return order ? order : (a->source > b->source) - (a->source < b->source);
}

static uint64_t draw(tuple *into, vp_position *positions, b_load from)
{
    uint64_t drawn = 0;
    for (uint32_t count; (count = load_next(&from, positions)) > 0; drawn += count)
        for (uint32_t i = 0; i < count; i++)
            into[drawn + i] = (tuple){positions[i], from.source};
    return drawn;
}

uint64_t load_reference(load_kind kind, uint32_t sources, uint32_t jumbo, uint64_t tuples)
{
    tuple *all = malloc(sources * tuples * sizeof *all);
    vp_position *positions = malloc(jumbo * sizeof *positions);
    uint64_t total = 0, checksum = 0;
    if (all && positions) {
        for (uint32_t i = 0; i < sources; i++)
            total += draw(all + total, positions, load_of(kind, i, sources, jumbo, tuples));
        qsort(all, total, sizeof *all, compare);
        for (uint64_t i = 0; i < total; i++)
            checksum = load_checksum(checksum, all[i].position, all[i].source);
    }
    free(all);
    free(positions);
    return checksum;
}
