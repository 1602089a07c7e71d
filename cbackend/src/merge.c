/* A tournament of the sources: the one with the smallest (bound, index) wins.
 *
 * Bounds only grow, so one that has not been looked at for a while is too small, never too large: the
 * tournament may be cautious, never wrong. A source is therefore looked at only when it has won without a
 * tuple, that is, when everything else waits for it; other sources cost nothing, however often they publish.
 *
 * The winner's tuples are taken one by one while sources take turns. One that has won several times in a row is taken
 * up to the second smallest (bound, index), found by doubling steps and bisection, so that the cost is per run where
 * runs do not overlap. Nanoseconds and instructions a tuple, for jumbo tuples of 256 and takes of up to 4,096, beside
 * those of a heap that is put in order, and counts written, once per run:
 *
 *     sources                          1           2            4            8           16
 *     at random, tournament     2.5   12    13.9  123    16.9  150    18.7  175    21.2  200
 *     at random, heap           2.2   11    20.6  168    36.9  290    49.2  375    59.9  443
 *     disjoint, tournament      2.6   12     2.6   14     3.0   15     2.8   15     2.7   16
 *     disjoint, heap            2.3   11     2.2   12     2.4   12     2.2   12     2.1   12
 *
 * The merge is private to its reader; what it counts is not. The counts of a take are written once, at its end, for
 * each source that it touched: nobody has seen anything of a take before it returns, so who dies in it may well have
 * delivered nothing. Progress: a call repeats a look only after a producer got further in between, so it is lock-free.
 */
#include "viper/merge.h"

#include <stdlib.h>
#include <string.h>

#include "claims.h"
#include "crash.h"
#include "line.h"
#include "order.h"
#include "positions.h"
#include "progress.h"
#include "reader.h"
#include "tournament.h"
#include "untracked.h"
#include "waking.h"

enum {
    AT_ONCE = 512, /* positions that room is made for at once */
    LONG = 4,      /* tuples that it is worth to look for the end of */
    PATIENCE = 16, /* the most tuples that a source wins with one by one before it is asked how far it goes */
};

/* Where a take has got to in a source. Its reader follows at the end of a jumbo tuple and of the take. */
typedef struct {
    const vp_position *end;   /* of the tuples of its jumbo tuple; NULL while none waits */
    const vp_position *first; /* the position of that one's first tuple */
    uint64_t delivered;       /* tuples up to the last that was taken, of the ring's whole life */
    uint32_t slot;            /* where that jumbo tuple is */
    uint32_t runs;            /* of this take */
} cursor;

struct vp_merge {
    vp_reader_words *own;
    vp_gate *shared;     /* the gate, where its readers claim its tuples; else NULL */
    uint32_t reader;
    uint64_t number;     /* of the next tuple, where they do */
    uint64_t begin, end; /* the last claim; what lies before its beginning is another's */
    int64_t holding;     /* as noted in own */
    uint64_t unfinished; /* as told by vp_merge_working; what was delivered since is noted beside it */
    vp_tournament order; /* a head: the position of the next tuple; the reader's bound while none waits */
    uint32_t patience;   /* see PATIENCE: less while there are long runs */
    cursor *cursors;
    vp_reader sources[];
};

/* What a take has brought so far. */
typedef struct {
    vp_positions *into;
    vp_run *runs;
    uint32_t made, max_runs;
} delivery;

/* Puts a source's cursor where its reader stands. */
static void point(vp_merge *merge, uint64_t source)
{
    const vp_reader *reader = &merge->sources[source];
    cursor *at = &merge->cursors[source];
    if (!vp_reader_has_tuple(reader)) {
        merge->order.heads[source] = &reader->bound;
        at->end = NULL;
        return;
    }
    uint32_t left;
    const vp_position *head = merge->order.heads[source] = vp_reader_positions(reader, &left);
    at->end = head + left;
    at->first = head - reader->taken;
    at->slot = (uint32_t)(reader->slot & (reader->ring->slot_count - 1));
}

/* Who wins below a node, once all matches there have been played. */
static vp_contender play(vp_merge *merge, uint64_t node)
{
    vp_tournament *order = &merge->order;
    if (node >= order->count)
        return (vp_contender){order->heads[node - order->count]->ts, node - order->count};
    order->losers[node] = play(merge, 2 * node);
    return vp_match(order, &order->losers[node], play(merge, 2 * node + 1));
}

/* A merge of so many sources that has seen nothing of them yet; NULL if there is no memory. */
static vp_merge *blank(uint32_t count)
{
    vp_merge *merge = calloc(1, sizeof *merge + count * sizeof *merge->sources);
    if (!merge)
        return NULL;
    merge->cursors = calloc(count, sizeof *merge->cursors);
    merge->order = (vp_tournament){
        .count = count,
        .losers = calloc(count, sizeof *merge->order.losers),
        .heads = calloc(count, sizeof *merge->order.heads),
    };
    merge->patience = LONG;
    if (merge->cursors && merge->order.losers && merge->order.heads)
        return merge;
    vp_merge_free(merge);
    return NULL;
}

static bool settle(vp_merge *merge);

/* Goes on where the reader before this one was, if there was one: with a claim of which it has seen nothing, too. */
static void begin_claiming(vp_merge *merge, vp_gate *gate, uint32_t reader)
{
    merge->shared = gate;
    merge->reader = reader;
    for (uint32_t i = 0; i < gate->source_count; i++) {
        /* Relaxed: the reader's own word. */
        merge->cursors[i].delivered = atomic_load_explicit(&merge->sources[i].own->delivered, memory_order_relaxed);
        merge->number += merge->cursors[i].delivered;
    }
    merge->begin = vp_claim_open(gate, reader, atomic_load(&merge->own->seen), &merge->end);
}

vp_merge *vp_merge_new(vp_gate *gate, uint32_t reader)
{
    vp_merge *merge = blank(gate->source_count);
    if (!merge)
        return NULL;
    merge->own = &gate->readers[reader];
    /* Relaxed: what the reader before this one has noted, if there was one. */
    merge->holding = atomic_load_explicit(&merge->own->holding, memory_order_relaxed);
    for (uint32_t i = 0; i < gate->source_count; i++) {
        vp_ring *ring = vp_gate_ring_at(gate, i);
        merge->sources[i] = vp_reader_of(ring, reader);
        point(merge, i);
        vp_wake_source(ring); /* the reader before this one may have died before it did */
    }
    if (gate->claims)
        begin_claiming(merge, gate, reader);
    merge->order.winner = play(merge, 1);
    if (merge->shared) {
        settle(merge); /* or the page of its task would go back to what it has not released */
        vp_claim_tell(gate, reader); /* the reader before this one may have died before it did */
    }
    return merge;
}

void vp_merge_free(vp_merge *merge)
{
    free(merge->order.losers);
    free(merge->order.heads);
    free(merge->cursors);
    free(merge);
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

/* Finds the winner for all that is known now, whoever it is for; whether it has a tuple. */
static bool settle_any(vp_merge *merge)
{
    uint64_t winner = merge->order.winner.source;
    while (!merge->cursors[winner].end && vp_reader_refresh(&merge->sources[winner])) {
        point(merge, winner);
        merge->order.winner = vp_replay(&merge->order, winner);
        winner = merge->order.winner.source;
    }
    bool has_tuple = merge->cursors[winner].end != NULL;
    bool waits = !has_tuple && vp_compare(merge->sources[winner].bound, VP_END) < 0;
    note_holding(merge, waits ? (int64_t)winner : -1);
    return has_tuple;
}

/* Lets a source's reader follow its cursor. */
static void follow(vp_merge *merge, uint64_t source)
{
    vp_reader *reader = &merge->sources[source];
    cursor *at = &merge->cursors[source];
    const vp_position *head = merge->order.heads[source];
    if (!at->end || head == at->first + reader->taken)
        return;
    uint32_t taken = (uint32_t)(head - at->first);
    /* Counted from what the jumbo tuple says: the reader may have begun with a count of another moment. */
    at->delivered = vp_ring_slot(reader->ring, reader->slot)->before + taken;
    vp_reader_advance(reader, taken - reader->taken);
}

/* How many tuples the winner has before it is the turn of another. */
static uint32_t in_a_row(vp_merge *merge, uint64_t winner)
{
    const vp_tournament *order = &merge->order;
    const vp_position *head = order->heads[winner];
    uint32_t count = (uint32_t)(merge->cursors[winner].end - head);
    if (order->count > 1) {
        uint64_t second = vp_second(order, winner);
        count = vp_stretch(head, count, winner, order->heads[second], second);
    }
    uint32_t patience = count >= LONG ? merge->patience / 2 : merge->patience + 2;
    merge->patience = patience < PATIENCE ? patience : PATIENCE;
    return count;
}

/* Leaves out ready tuples up to a number: they are others'. */
static void pass(vp_merge *merge, uint64_t until)
{
    while (merge->number < until && settle_any(merge)) {
        uint64_t winner = merge->order.winner.source, left = until - merge->number;
        uint32_t count = in_a_row(merge, winner);
        count = count < left ? count : (uint32_t)left;
        merge->order.heads[winner] += count;
        merge->number += count;
        if (merge->order.heads[winner] == merge->cursors[winner].end) {
            follow(merge, winner);
            point(merge, winner);
        }
        merge->order.winner = vp_replay(&merge->order, winner);
    }
}

/* Tells everybody how far the reader has come in each source. */
static void follow_all(vp_merge *merge)
{
    for (uint32_t i = 0; i < merge->order.count; i++) {
        follow(merge, i);
        /* Relaxed, then released: as in account. */
        _Atomic uint64_t *delivered = &merge->sources[i].own->delivered;
        if (merge->cursors[i].delivered != atomic_load_explicit(delivered, memory_order_relaxed))
            atomic_store_explicit(delivered, merge->cursors[i].delivered, memory_order_release);
        VP_CRASH_POINT("take: passed");
    }
}

/* Finds the winner for all that is known now; whether it has a tuple for this reader, as far as is known. */
static bool settle(vp_merge *merge)
{
    if (merge->shared) {
        uint64_t number = merge->number;
        pass(merge, merge->number < merge->end ? merge->begin : vp_claimed(merge->shared));
        if (merge->number != number)
            follow_all(merge);
    }
    return settle_any(merge);
}

/* Copies the winner's next tuple, or all that it has in a row, up to the end of the room, once it has won often enough
 * before; returns how many. */
static inline uint32_t copy(vp_merge *merge, uint64_t winner, uint32_t before, vp_position *out, uint64_t room)
{
    if (before < merge->patience) {
        *out = *merge->order.heads[winner];
        return 1;
    }
    uint32_t count = in_a_row(merge, winner);
    count = count < room ? count : (uint32_t)room;
    memcpy(out, merge->order.heads[winner], count * sizeof *out);
    return count;
}

/* Puts the next tuple of a source into the last run, or begins one; false if there is no space for it. Without a branch
 * where sources take turns. */
static inline bool open_run(delivery *taken, vp_run *run, uint32_t source, uint32_t slot)
{
    bool another = (run->source != source) | (run->slot != slot);
    if (another & (taken->made == taken->max_runs))
        return false;
    taken->made += another;
    run->source = source;
    run->slot = slot;
    run->count &= (uint32_t)another - 1;
    return true;
}

/* Whether the next tuples lie on a line, as those of an only source may. */
static bool comes_on_line(const vp_merge *merge)
{
    const vp_reader *reader = &merge->sources[0];
    return merge->order.count == 1 && merge->cursors[0].end && vp_ring_slot(reader->ring, reader->slot)->on_line;
}

/* Takes ready tuples, up to the room that was made for them; returns how many. It stops where the winner has none,
 * where there is no space for one more run, and before positions on a line. */
static uint64_t draw(vp_merge *merge, uint64_t room, delivery *taken)
{
    vp_position *begin = taken->into->data + taken->into->length, *out = begin, *stop = begin + room;
    uint64_t winner = merge->order.winner.source;
    vp_run run = taken->made ? taken->runs[taken->made - 1] : (vp_run){.source = UINT32_MAX};
    while (out < stop) {
        cursor *at = &merge->cursors[winner];
        if (!at->end || !open_run(taken, &run, (uint32_t)winner, at->slot))
            break;
        uint32_t count = copy(merge, winner, run.count, out, (uint64_t)(stop - out));
        const vp_position *head = merge->order.heads[winner] += count;
        run.count += count;
        run.first = (uint32_t)(head - at->first) - run.count;
        taken->runs[taken->made - 1] = run;
        out += count;
        if (head == at->end) {
            follow(merge, winner);
            point(merge, winner);
            if (comes_on_line(merge))
                break;
        }
        merge->order.winner = vp_replay(&merge->order, winner);
        winner = merge->order.winner.source;
    }
    taken->into->length += (uint64_t)(out - begin);
    return (uint64_t)(out - begin);
}

/* Takes ready tuples of an only source's jumbo tuple whose positions lie on a line; returns how many. */
static uint64_t draw_line(vp_merge *merge, uint64_t limit, delivery *taken)
{
    cursor *at = &merge->cursors[0];
    const vp_position *head = merge->order.heads[0];
    uint32_t first = (uint32_t)(head - at->first), left = (uint32_t)(at->end - head);
    uint32_t count = limit < left ? (uint32_t)limit : left;
    const vp_places places = vp_places_packed(at->first);
    const vp_places part = vp_places_part(&places, first + left, first, count);
    if (taken->made == taken->max_runs || vp_positions_extend_on(taken->into, &part, count))
        return 0;
    taken->runs[taken->made++] = (vp_run){0, at->slot, first, count};
    merge->order.heads[0] += count;
    if (count == left) {
        follow(merge, 0);
        point(merge, 0);
    }
    return count;
}

/* How many of the positions from an index on nobody tracks. */
static uint64_t untracked_from(const vp_positions *positions, uint64_t first)
{
    uint64_t count = positions->length - first;
    return vp_positions_on_line(positions) ? count : vp_untracked(positions->data + first, count);
}

/* Counts what a take has brought of what its reader has claimed. */
static void count_claimed(vp_merge *merge, const delivery *taken)
{
    for (uint32_t i = 0; i < taken->made; i++) {
        /* Relaxed, both: the reader's own word, a count. */
        _Atomic uint64_t *claimed = &merge->sources[taken->runs[i].source].own->claimed;
        uint64_t count = atomic_load_explicit(claimed, memory_order_relaxed) + taken->runs[i].count;
        atomic_store_explicit(claimed, count, memory_order_relaxed);
    }
}

/* Tells everybody what a take has brought: once for each source, as nobody has seen anything of it before. */
static void account(vp_merge *merge, const delivery *taken, uint64_t before)
{
    if (merge->shared) {
        follow_all(merge);
        count_claimed(merge, taken);
    }
    /* Before delivered: who dies in between has lost too many rather than too few. */
    vp_merge_delivered_since(merge, untracked_from(taken->into, before));
    VP_CRASH_POINT("take: working");
    for (uint32_t i = 0; i < taken->made; i++)
        merge->cursors[taken->runs[i].source].runs++;
    for (uint32_t i = 0; i < merge->order.count; i++) {
        cursor *at = &merge->cursors[i];
        if (!at->runs)
            continue;
        follow(merge, i);
        vp_head *own = merge->sources[i].own;
        /* Relaxed: the reader's own word, a count. */
        uint64_t runs = atomic_load_explicit(&own->runs, memory_order_relaxed) + at->runs;
        atomic_store_explicit(&own->runs, runs, memory_order_relaxed);
        /* Released, so that whoever sees a delivery sees it added, too. */
        atomic_store_explicit(&own->delivered, at->delivered, memory_order_release);
        at->runs = 0;
        VP_CRASH_POINT("take: delivered");
    }
}

/* Takes up to `limit` ready tuples, or VP_NO_MEMORY; nobody knows of it yet. */
static int64_t gather(vp_merge *merge, uint64_t limit, delivery *taken)
{
    while (limit > 0 && settle_any(merge)) {
        bool on_line = comes_on_line(merge);
        if (taken->made > 0 && (on_line || vp_positions_on_line(taken->into)))
            break; /* a line that is taken with others is one no more */
        if (on_line) {
            if (!draw_line(merge, limit, taken))
                return VP_NO_MEMORY;
            break;
        }
        uint64_t room = limit < AT_ONCE ? limit : AT_ONCE;
        if (vp_positions_reserve(taken->into, room)) {
            if (!taken->made)
                return VP_NO_MEMORY;
            break;
        }
        uint64_t count = draw(merge, room, taken);
        if (!count)
            break;
        limit -= count;
    }
    return taken->made;
}

/* Forgets the first tuples of a take, which are others'. */
static void leave_out(delivery *taken, uint64_t before, uint64_t count)
{
    vp_positions *into = taken->into;
    into->length -= count;
    memmove(into->data + before, into->data + before + count, (into->length - before) * sizeof *into->data);
    uint32_t gone = 0;
    for (; gone < taken->made && taken->runs[gone].count <= count; gone++)
        count -= taken->runs[gone].count;
    taken->made -= gone;
    memmove(taken->runs, taken->runs + gone, taken->made * sizeof *taken->runs);
    if (count) {
        taken->runs[0].first += (uint32_t)count;
        taken->runs[0].count -= (uint32_t)count;
    }
}

/* Takes what is left of the reader's last claim, or else up to `limit` ready tuples that it claims. */
static int64_t gather_claimed(vp_merge *merge, uint64_t limit, delivery *taken)
{
    uint64_t before = taken->into->length;
    while (settle(merge)) {
        uint64_t first = merge->number;
        if (first < merge->end)
            limit = limit < merge->end - first ? limit : merge->end - first;
        int64_t made = gather(merge, limit, taken);
        if (made <= 0)
            return made;
        merge->number = first + (taken->into->length - before);
        if (first >= merge->end) {
            uint64_t begin = vp_claim_until(merge->shared, merge->reader, merge->number);
            if (begin > first)
                leave_out(taken, before, begin < merge->number ? begin - first : merge->number - first);
            if (!taken->made)
                continue; /* all of it has been claimed */
            merge->begin = begin;
            merge->end = merge->number;
            /* Relaxed: the reader's own word, a count. */
            uint64_t claims = atomic_load_explicit(&merge->own->claims, memory_order_relaxed);
            atomic_store_explicit(&merge->own->claims, claims + 1, memory_order_relaxed);
        }
        return taken->made;
    }
    return 0;
}

int64_t vp_merge_take(vp_merge *merge, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs)
{
    delivery taken = {into, runs, 0, max_runs};
    uint64_t before = into->length;
    int64_t made = !limit          ? 0
                   : merge->shared ? gather_claimed(merge, limit, &taken)
                                   : gather(merge, limit, &taken);
    if (made > 0)
        account(merge, &taken, before);
    if (made > 0 && merge->shared)
        atomic_store(&merge->own->seen, merge->number);
    return made;
}

void vp_merge_working(vp_merge *merge, uint64_t untracked)
{
    merge->unfinished = untracked;
    vp_merge_delivered_since(merge, 0);
}

void vp_merge_delivered_since(vp_merge *merge, uint64_t untracked)
{
    /* Relaxed: read when the reader is dead. */
    atomic_store_explicit(&merge->own->working, merge->unfinished + untracked, memory_order_relaxed);
}

void vp_merge_release(vp_merge *merge)
{
    for (uint32_t i = 0; i < merge->order.count; i++)
        vp_reader_release(&merge->sources[i]);
}

uint32_t vp_merge_put_back(vp_merge *merge, uint32_t source, uint64_t count)
{
    vp_reader_go_back(&merge->sources[source], count);
    merge->number -= count;
    if (merge->shared) {
        atomic_store(&merge->own->seen, merge->number);
        _Atomic uint64_t *claimed = &merge->sources[source].own->claimed;
        /* Relaxed, both: the reader's own word, a count. */
        uint64_t left = atomic_load_explicit(claimed, memory_order_relaxed) - count;
        atomic_store_explicit(claimed, left, memory_order_relaxed);
    }
    /* Relaxed: the reader's own word. */
    merge->cursors[source].delivered =
        atomic_load_explicit(&merge->sources[source].own->delivered, memory_order_relaxed);
    point(merge, source);
    merge->order.winner = play(merge, 1); /* all matches anew, as one bound is smaller than it was */
    return merge->cursors[source].slot;
}

bool vp_merge_has_claim(const vp_merge *merge)
{
    return merge->shared && merge->number < merge->end;
}

bool vp_merge_ready(vp_merge *merge)
{
    return settle(merge);
}

uint64_t vp_merge_next(vp_merge *merge)
{
    if (!settle(merge))
        return 0;
    uint64_t winner = merge->order.winner.source;
    return (uint64_t)(merge->cursors[winner].end - merge->order.heads[winner]);
}

vp_position vp_merge_frontier(vp_merge *merge)
{
    settle(merge);
    return merge->sources[merge->order.winner.source].bound;
}

int64_t vp_merge_holding(vp_merge *merge)
{
    settle(merge);
    return merge->holding;
}

uint64_t vp_merge_waiting(const vp_merge *merge)
{
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < merge->order.count; i++) {
        const vp_reader *reader = &merge->sources[i];
        /* Relaxed: the reader's own word. */
        waiting += vp_waiting_tuples(reader->ring, atomic_load_explicit(&reader->own->delivered, memory_order_relaxed));
    }
    return waiting;
}

uint64_t vp_merge_delivered(const vp_merge *merge)
{
    uint64_t delivered = 0;
    for (uint32_t i = 0; i < merge->order.count; i++) /* relaxed: the reader's own words */
        delivered += atomic_load_explicit(&merge->sources[i].own->delivered, memory_order_relaxed);
    return delivered;
}

static int64_t last_ts_of(const vp_merge *merge, uint32_t source)
{
    /* Relaxed: written before the progress that the reader has acquired and acts upon. */
    return atomic_load_explicit(&merge->sources[source].ring->progress.last_ts, memory_order_relaxed);
}

int64_t vp_merge_last_ts(const vp_merge *merge)
{
    int64_t latest = INT64_MIN;
    for (uint32_t i = 0; i < merge->order.count; i++) {
        int64_t last_ts = last_ts_of(merge, i);
        latest = last_ts != VP_TS_OF_PROGRESS && last_ts > latest ? last_ts : latest;
    }
    return latest;
}

int64_t vp_merge_until_ts(const vp_merge *merge)
{
    int64_t latest = INT64_MIN;
    for (uint32_t i = 0; i < merge->order.count; i++) {
        int64_t last_ts = last_ts_of(merge, i);
        latest = last_ts > latest ? last_ts : latest;
    }
    return latest;
}
