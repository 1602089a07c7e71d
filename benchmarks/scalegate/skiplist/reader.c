/* A reader's side: step, deliver, release.
 *
 * A reader may step from a node that is not its source's last any more. Let it see (W1) that the source
 * has written past the node. It saw the like (W1) of every other source when it passed that source's
 * node before; so it knows of an item of every source that lies behind the node, and all links up to
 * those are visible to it. Nobody adds anything before an item of his own. So the next node is
 * what it will always be, and so is its length, and its tuples are ready.
 *
 * Progress: every function is wait-free; stepping costs a look at another task's word only where all that
 * was known to be written has been passed.
 */
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "order.h"
#include "positions.h"

/* What a reader knows of one source. */
typedef struct {
    uint64_t written;  /* as last looked at */
    uint64_t items;    /* delivered */
    uint64_t released; /* of those, its source was told */
    uint64_t slot;     /* number of its first jumbo tuple that is not delivered to the end */
} known;

struct sl_reader {
    sl_gate *gate;
    uint32_t index;
    _Atomic uint32_t *passes; /* of each node, told to all sources */
    uint32_t at;    /* index of the node it stands on */
    uint32_t count; /* tuples of that node */
    uint32_t taken; /* of those, delivered */
    known sources[];
};

sl_reader *sl_reader_new(sl_gate *gate, uint32_t index)
{
    sl_reader *reader = calloc(1, sizeof *reader + gate->source_count * sizeof *reader->sources);
    if (!reader)
        return NULL;
    reader->gate = gate;
    reader->index = index;
    reader->passes = sl_passes_of(gate, index);
    reader->at = gate->first;
    for (uint32_t i = 0; i < gate->source_count; i++)
        reader->sources[i] = (known){.written = 1};
    return reader;
}

void sl_reader_free(sl_reader *reader)
{
    free(reader);
}

static sl_node *node_of(const sl_reader *reader)
{
    return sl_node_at(reader->gate, reader->at);
}

/* Whether the node it stands on is its source's last. */
static bool is_last(sl_reader *reader)
{
    uint32_t source = sl_tie_source(node_of(reader)->tie);
    known *its = &reader->sources[source];
    if (its->written != sl_node_end(node_of(reader), reader->count))
        return false;
    const sl_source *other = sl_source_of(reader->gate, source);
    its->written = atomic_load_explicit(&other->written, memory_order_acquire); /* W1 <- W0, source.c */
    return its->written == sl_node_end(node_of(reader), reader->count);
}

/* Steps to a node; the one before it may be used again as far as this reader is concerned. */
static void step_to(sl_reader *reader, uint32_t next)
{
    _Atomic uint32_t *passes = &reader->passes[reader->at];
    uint32_t before = atomic_load_explicit(passes, memory_order_relaxed); /* relaxed: its own word */
    atomic_store_explicit(passes, before + 1, memory_order_release);      /* P4 -> P1, P2, pool.c */
    reader->at = next;
    uint64_t link = atomic_load_explicit(&node_of(reader)->link, memory_order_acquire); /* L0, run.c */
    reader->count = sl_link_count(link);
    reader->taken = 0;
}

/* Steps to the next node; false if it may not. */
static bool step(sl_reader *reader)
{
    if (is_last(reader))
        return false;
    uint64_t link = atomic_load_explicit(&node_of(reader)->link, memory_order_acquire); /* L0, run.c */
    step_to(reader, sl_link_next(link));
    if (reader->count == 0)
        reader->sources[sl_tie_source(node_of(reader)->tie)].items = sl_node_end(node_of(reader), 0);
    return true;
}

/* Steps over what has no tuples left; false if nothing is ready. */
static bool find_tuples(sl_reader *reader)
{
    while (reader->taken == reader->count)
        if (!step(reader))
            return false;
    return true;
}

/* The next tuples of the node as a run of their jumbo tuple. */
static vp_run next_run(sl_reader *reader, uint64_t limit)
{
    uint32_t source = sl_tie_source(node_of(reader)->tie), left = reader->count - reader->taken;
    uint64_t item = sl_tie_number(node_of(reader)->tie) + reader->taken;
    uint64_t slot = reader->sources[source].slot;
    return (vp_run){
        .source = source,
        .slot = (uint32_t)(slot & (reader->gate->slot_count - 1)),
        .first = (uint32_t)(item - sl_slot_of(reader->gate, source, slot)->first),
        .count = left < limit ? left : (uint32_t)limit,
    };
}

/* Records a run, or makes the one before it longer. False if there is no space. */
static bool record(vp_run next, vp_run *runs, uint32_t *made, uint32_t max_runs)
{
    vp_run *last = *made > 0 ? &runs[*made - 1] : NULL;
    if (last && last->source == next.source && last->slot == next.slot) {
        last->count += next.count;
        return true;
    }
    if (*made == max_runs)
        return false;
    runs[(*made)++] = next;
    return true;
}

static void deliver(sl_reader *reader, vp_positions *into, vp_run run)
{
    uint64_t item = sl_tie_number(node_of(reader)->tie) + reader->taken;
    const vp_position *positions = sl_position_of(reader->gate, run.source, item);
    memcpy(into->data + into->length, positions, run.count * sizeof *positions);
    into->length += run.count;
    reader->taken += run.count;
    known *its = &reader->sources[run.source];
    its->items = item + run.count;
    const sl_slot *slot = sl_slot_of(reader->gate, run.source, its->slot);
    if (its->items == slot->first + slot->count)
        its->slot++;
}

int64_t sl_reader_take(sl_reader *reader, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs)
{
    uint32_t made = 0;
    while (limit > 0 && find_tuples(reader)) {
        vp_run run = next_run(reader, limit);
        if (vp_positions_reserve(into, run.count))
            return made > 0 ? (int64_t)made : -1;
        if (!record(run, runs, &made, max_runs))
            break;
        deliver(reader, into, run);
        limit -= run.count;
    }
    return made;
}

void sl_reader_release(sl_reader *reader)
{
    for (uint32_t i = 0; i < reader->gate->source_count; i++) {
        known *its = &reader->sources[i];
        if (its->items == its->released)
            continue;
        its->released = its->items;
        sl_done *done = sl_done_of(reader->gate, reader->index, i);
        atomic_store_explicit(&done->items, its->items, memory_order_release); /* C0, source.c */
    }
}

bool sl_reader_drained(const sl_reader *reader)
{
    return reader->count == 0 && vp_compare(sl_position_at(node_of(reader)->first), VP_END) == 0;
}

uint32_t sl_reader_standing_on(const sl_reader *reader)
{
    return sl_tie_source(node_of(reader)->tie);
}
