/* A heap of the sources, the one with the smallest (bound, index) at its root.
 *
 * Bounds only grow, so one that has not been looked at for a while is too small, never too large: the
 * heap may be cautious, never wrong. A source is therefore looked at only when it stands at the root
 * without a tuple, that is, when everything else waits for it; other sources cost nothing, however
 * often they publish. The root's tuples are taken up to the second smallest (bound, index), found by
 * doubling steps and bisection, so that the cost is per run where runs do not overlap.
 *
 * The merge is private to the consumer. Progress: a call repeats a look only after a producer got
 * further in between, so it is lock-free.
 */
#include "viper/merge.h"

#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "positions.h"
#include "reader.h"

typedef struct {
    vp_reader reader;
    vp_merge_counts counts;
} vp_source;

struct vp_merge {
    uint32_t count;
    uint32_t *heap; /* indexes of sources */
    vp_source sources[];
};

vp_merge *vp_merge_new(vp_ring *const *rings, uint32_t count)
{
    vp_merge *merge = calloc(1, sizeof *merge + count * sizeof *merge->sources);
    uint32_t *heap = calloc(count, sizeof *heap);
    if (!merge || !heap) {
        free(merge);
        free(heap);
        return NULL;
    }
    merge->count = count;
    merge->heap = heap;
    for (uint32_t i = 0; i < count; i++) {
        merge->sources[i].reader = vp_reader_of(rings[i]);
        heap[i] = i; /* in order: all bounds are the least */
    }
    return merge;
}

void vp_merge_free(vp_merge *merge)
{
    free(merge->heap);
    free(merge);
}

/* The order of (a, source_a) and (b, source_b). */
static bool precedes(vp_position a, uint32_t source_a, vp_position b, uint32_t source_b)
{
    int order = vp_compare(a, b);
    return order < 0 || (order == 0 && source_a < source_b);
}

static bool heap_precedes(const vp_merge *merge, uint32_t place_a, uint32_t place_b)
{
    uint32_t a = merge->heap[place_a], b = merge->heap[place_b];
    return precedes(merge->sources[a].reader.bound, a, merge->sources[b].reader.bound, b);
}

/* The smaller child of a place, or `count` if it has none. */
static uint32_t smaller_child(const vp_merge *merge, uint32_t place)
{
    uint32_t child = 2 * place + 1;
    if (child >= merge->count)
        return merge->count;
    return child + 1 < merge->count && heap_precedes(merge, child + 1, child) ? child + 1 : child;
}

/* Puts the heap in order after the root's bound grew. */
static void sift_down(vp_merge *merge)
{
    uint32_t place = 0, child;
    while ((child = smaller_child(merge, place)) < merge->count && heap_precedes(merge, child, place)) {
        uint32_t moved = merge->heap[place];
        merge->heap[place] = merge->heap[child];
        merge->heap[child] = moved;
        place = child;
    }
}

/* Brings the source to the root that has the smallest bound for all that is known now. */
static vp_source *settle(vp_merge *merge)
{
    vp_source *root = &merge->sources[merge->heap[0]];
    while (!vp_reader_has_tuple(&root->reader) && vp_reader_refresh(&root->reader)) {
        sift_down(merge);
        root = &merge->sources[merge->heap[0]];
    }
    return root;
}

/* How many of the positions of `source` lie before (bound, other). The first one does. */
static uint32_t stretch(const vp_position *positions, uint32_t count, uint32_t source, vp_position bound,
                        uint32_t other)
{
    uint32_t low = 0, step = 1; /* positions[low] lies before it */
    while (step < count - low && precedes(positions[low + step], source, bound, other)) {
        low += step;
        step *= 2;
    }
    uint32_t high = step < count - low ? low + step : count; /* positions[high], if any, does not */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (precedes(positions[middle], source, bound, other))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The ready positions of the root's jumbo tuple. */
static const vp_position *ready_positions(const vp_merge *merge, uint32_t *count)
{
    uint32_t source = merge->heap[0], second = smaller_child(merge, 0);
    const vp_position *positions = vp_reader_positions(&merge->sources[source].reader, count);
    if (second < merge->count) {
        uint32_t other = merge->heap[second];
        *count = stretch(positions, *count, source, merge->sources[other].reader.bound, other);
    }
    return positions;
}

/* Records a run, or makes the one before it longer: one of the same jumbo tuple goes on where that
 * ended. False if there is no space. */
static bool record(vp_merge *merge, vp_run next, vp_run *runs, uint32_t *made, uint32_t max_runs)
{
    if (*made > 0) {
        vp_run *last = &runs[*made - 1];
        if (last->source == next.source && last->slot == next.slot) {
            last->count += next.count;
            return true;
        }
    }
    if (*made == max_runs)
        return false;
    runs[(*made)++] = next;
    merge->sources[next.source].counts.runs++;
    return true;
}

static void advance_root(vp_merge *merge, uint32_t count)
{
    vp_source *root = &merge->sources[merge->heap[0]];
    vp_reader_advance(&root->reader, count);
    root->counts.tuples += count;
    sift_down(merge);
}

int64_t vp_merge_take(vp_merge *merge, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs)
{
    uint32_t made = 0;
    while (limit > 0 && vp_reader_has_tuple(&settle(merge)->reader)) {
        uint32_t source = merge->heap[0], count;
        const vp_reader *reader = &merge->sources[source].reader;
        const vp_position *positions = ready_positions(merge, &count);
        count = count < limit ? count : (uint32_t)limit;
        if (vp_positions_reserve(into, count))
            return made > 0 ? (int64_t)made : VP_NO_MEMORY;
        uint32_t slot = (uint32_t)(reader->slot & (reader->ring->slot_count - 1));
        vp_run run = {.source = source, .slot = slot, .first = reader->taken, .count = count};
        if (!record(merge, run, runs, &made, max_runs))
            break;
        memcpy(into->data + into->length, positions, count * sizeof *positions);
        into->length += count;
        limit -= count;
        advance_root(merge, count);
    }
    return made;
}

void vp_merge_release(vp_merge *merge)
{
    for (uint32_t i = 0; i < merge->count; i++)
        vp_reader_release(&merge->sources[i].reader);
}

bool vp_merge_ready(vp_merge *merge)
{
    return vp_reader_has_tuple(&settle(merge)->reader);
}

vp_position vp_merge_frontier(vp_merge *merge)
{
    return settle(merge)->reader.bound;
}

bool vp_merge_drained(vp_merge *merge)
{
    return vp_compare(vp_merge_frontier(merge), VP_END) == 0;
}

int64_t vp_merge_holding(vp_merge *merge)
{
    if (vp_merge_ready(merge) || vp_merge_drained(merge))
        return -1;
    return merge->heap[0];
}

vp_merge_counts vp_merge_statistics(const vp_merge *merge, uint32_t source)
{
    return merge->sources[source].counts;
}
