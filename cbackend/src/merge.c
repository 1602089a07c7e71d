/* A heap of the sources, the one with the smallest (bound, index) at its root.
 *
 * Bounds only grow, so one that has not been looked at for a while is too small, never too large: the
 * heap may be cautious, never wrong. A source is therefore looked at only when it stands at the root
 * without a tuple, that is, when everything else waits for it; other sources cost nothing, however
 * often they publish. The root's tuples are taken up to the second smallest (bound, index), found by
 * doubling steps and bisection, so that the cost is per run where runs do not overlap.
 *
 * The merge is private to its reader; what it counts is not. Progress: a call repeats a look only after a producer got
 * further in between, so it is lock-free.
 */
#include "viper/merge.h"

#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "positions.h"
#include "progress.h"
#include "reader.h"
#include "untracked.h"
#include "waking.h"

struct vp_merge {
    vp_reader_words *own;
    int64_t holding; /* as noted in own */
    uint32_t count;
    uint32_t *heap; /* indexes of sources */
    vp_reader sources[];
};

vp_merge *vp_merge_new(vp_gate *gate, uint32_t reader)
{
    uint32_t count = gate->source_count;
    vp_merge *merge = calloc(1, sizeof *merge + count * sizeof *merge->sources);
    uint32_t *heap = calloc(count, sizeof *heap);
    if (!merge || !heap) {
        free(merge);
        free(heap);
        return NULL;
    }
    *merge = (vp_merge){.own = &gate->readers[reader], .count = count, .heap = heap};
    /* Relaxed: what the reader before this one has noted, if there was one. */
    merge->holding = atomic_load_explicit(&merge->own->holding, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        vp_ring *ring = vp_gate_ring_at(gate, i);
        merge->sources[i] = vp_reader_of(ring, reader);
        heap[i] = i; /* in order: all bounds are the least */
        vp_wake_source(ring); /* the reader before this one may have died before it did */
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
    return precedes(merge->sources[a].bound, a, merge->sources[b].bound, b);
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

/* Notes for everybody which source the reader waits for; -1 for none. */
static void note_holding(vp_merge *merge, int64_t source)
{
    if (merge->holding == source)
        return;
    merge->holding = source;
    /* Relaxed: for statistics. */
    atomic_store_explicit(&merge->own->holding, source, memory_order_relaxed);
}

/* Brings the source to the root that has the smallest bound for all that is known now. */
static vp_reader *settle(vp_merge *merge)
{
    vp_reader *root = &merge->sources[merge->heap[0]];
    while (!vp_reader_has_tuple(root) && vp_reader_refresh(root)) {
        sift_down(merge);
        root = &merge->sources[merge->heap[0]];
    }
    bool waits = !vp_reader_has_tuple(root) && vp_compare(root->bound, VP_END) < 0;
    note_holding(merge, waits ? (int64_t)merge->heap[0] : -1);
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
    const vp_position *positions = vp_reader_positions(&merge->sources[source], count);
    if (second < merge->count) {
        uint32_t other = merge->heap[second];
        *count = stretch(positions, *count, source, merge->sources[other].bound, other);
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
    /* Relaxed: the reader's own word, a count. */
    _Atomic uint64_t *counted = &merge->sources[next.source].own->runs;
    atomic_store_explicit(counted, atomic_load_explicit(counted, memory_order_relaxed) + 1, memory_order_relaxed);
    return true;
}

static void advance_root(vp_merge *merge, uint32_t count)
{
    vp_reader *root = &merge->sources[merge->heap[0]];
    /* Counted from what the jumbo tuple says: the reader may have begun with a count of another moment. */
    uint64_t delivered = vp_ring_slot(root->ring, root->slot)->before + root->taken + count;
    vp_reader_advance(root, count);
    /* Released, so that whoever sees a delivery sees it added, too. */
    atomic_store_explicit(&root->own->delivered, delivered, memory_order_release);
    sift_down(merge);
}

int64_t vp_merge_take(vp_merge *merge, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs)
{
    uint32_t made = 0;
    uint64_t untracked = 0;
    while (limit > 0 && vp_reader_has_tuple(settle(merge))) {
        uint32_t source = merge->heap[0], count;
        const vp_reader *reader = &merge->sources[source];
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
        /* Before delivered: who dies in between has lost too many rather than too few. */
        vp_merge_working(merge, untracked += vp_untracked(into->data + into->length - count, count));
        advance_root(merge, count);
    }
    return made;
}

void vp_merge_working(vp_merge *merge, uint64_t untracked)
{
    /* Relaxed: read when the reader is dead. */
    atomic_store_explicit(&merge->own->working, untracked, memory_order_relaxed);
}

void vp_merge_release(vp_merge *merge)
{
    for (uint32_t i = 0; i < merge->count; i++)
        vp_reader_release(&merge->sources[i]);
}

bool vp_merge_ready(vp_merge *merge)
{
    return vp_reader_has_tuple(settle(merge));
}

vp_position vp_merge_frontier(vp_merge *merge)
{
    return settle(merge)->bound;
}

bool vp_merge_drained(vp_merge *merge)
{
    return vp_compare(vp_merge_frontier(merge), VP_END) == 0;
}

int64_t vp_merge_holding(vp_merge *merge)
{
    settle(merge);
    return merge->holding;
}

uint64_t vp_merge_waiting(const vp_merge *merge)
{
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < merge->count; i++) {
        const vp_reader *reader = &merge->sources[i];
        /* Relaxed: the reader's own word. */
        waiting += vp_waiting_tuples(reader->ring, atomic_load_explicit(&reader->own->delivered, memory_order_relaxed));
    }
    return waiting;
}

int64_t vp_merge_last_ts(const vp_merge *merge)
{
    int64_t latest = INT64_MIN;
    for (uint32_t i = 0; i < merge->count; i++) {
        /* Relaxed: written before the progress that the reader has acquired and acts upon. */
        int64_t last_ts =
            atomic_load_explicit(&merge->sources[i].ring->progress.last_ts, memory_order_relaxed);
        latest = last_ts > latest ? last_ts : latest;
    }
    return latest;
}
