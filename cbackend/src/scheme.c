/* Batches, and the threads that evaluate them.
 *
 * Threads. They sleep between calls. Within one they wait at barriers, for which they spin, and lend the processor to
 *          others now and then (scheme_wait.c). What is written before a barrier is seen behind it. They take no signals,
 *          which are for threads that may be asleep until one comes.
 * Undo.    When all threads have noted what the batch may change, the group is told of their notes. They are given up by
 *          a word that is logged in the group's own undo log, so by its commit. Within the batch, a transaction that
 *          aborts goes back by an undo log of its thread's.
 */
#define _POSIX_C_SOURCE 200809L /* pthread_sigmask */

#include "scheme.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"

static const vp_scheme_steps *const STEPS[] = {
    [VP_SCHEME_CHAINS] = &vp_scheme_chains,
    [VP_SCHEME_LOCKS] = &vp_scheme_locks,
    [VP_SCHEME_VERSIONS] = &vp_scheme_versions,
    [VP_SCHEME_PARTITION_LOCKS] = &vp_scheme_partition_locks,
    [VP_SCHEME_NO_LOCKS] = &vp_scheme_no_locks,
    [VP_SCHEME_PARTITIONS_APART] = &vp_scheme_partitions_apart,
};
enum { KINDS = sizeof STEPS / sizeof *STEPS, MOST_BATCH = 1 << 14 };

/* -- threads */

static void barrier(vp_txscheme *scheme)
{
    uint32_t generation = atomic_load_explicit(&scheme->generation, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&scheme->arrived, 1, memory_order_acq_rel) + 1 == scheme->threads) {
        atomic_store_explicit(&scheme->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&scheme->generation, generation + 1, memory_order_release);
        return;
    }
    vp_wait_for(&scheme->generation, generation + 1);
}

/* One thread's share of a batch. */
static void work(vp_txscheme_thread *self)
{
    vp_txscheme *scheme = self->scheme;
    uint64_t count = scheme->count, index = self->index, threads = scheme->threads;
    vp_batch_analyse(self, (uint32_t)(count * index / threads), (uint32_t)(count * (index + 1) / threads));
    barrier(scheme);
    if (index == 0) {
        atomic_store_explicit(&scheme->group->segments, scheme->segments_at, memory_order_release);
        VP_CRASH_POINT("scheme: noted");
    }
    if (scheme->steps.link)
        scheme->steps.link(self);
    barrier(scheme);
    scheme->steps.run(self);
    barrier(scheme);
}

static bool wait_for_call(vp_txscheme *scheme, uint64_t *calls)
{
    pthread_mutex_lock(&scheme->lock);
    while (scheme->calls == *calls && !scheme->is_ended)
        pthread_cond_wait(&scheme->wake, &scheme->lock);
    *calls = scheme->calls;
    bool goes_on = !scheme->is_ended;
    pthread_mutex_unlock(&scheme->lock);
    return goes_on;
}

static void *member(void *argument)
{
    vp_txscheme_thread *self = argument;
    for (uint64_t calls = 0; wait_for_call(self->scheme, &calls);)
        for (;;) {
            barrier(self->scheme);
            /* Relaxed: the barrier stands before it. Another call may have begun and found nothing since. */
            if (atomic_load_explicit(&self->scheme->over, memory_order_relaxed) >= calls)
                break;
            work(self);
        }
    return NULL;
}

static void call(vp_txscheme *scheme)
{
    scheme->is_awake = true;
    pthread_mutex_lock(&scheme->lock);
    scheme->calls++;
    pthread_cond_broadcast(&scheme->wake);
    pthread_mutex_unlock(&scheme->lock);
}

static void end_call(vp_txscheme *scheme)
{
    if (!scheme->is_awake)
        return;
    scheme->is_awake = false;
    atomic_store_explicit(&scheme->over, scheme->calls, memory_order_relaxed);
    barrier(scheme);
}

/* -- a batch */

static uint64_t room_of(const vp_evaluation *run)
{
    return VP_TX_UNDO_ROOM - vp_evaluation_commit_words(run) - 1;
}

/* Merges the logs, as far as the batch has room. Returns VP_TX_PROGRESSED, VP_TX_WAITS_ALONE if one that is alone comes
 * next, or VP_TX_NO_MEMORY if one that has no room even alone. */
static int collect(vp_txscheme *scheme, vp_evaluation *run)
{
    const uint64_t most = room_of(run) / run->most_words;
    vp_tournament order = run->order;
    uint64_t turn;
    int result = VP_TX_PROGRESSED;
    scheme->count = 0;
    scheme->instructions = 0;
    for (vp_tx *tx; (tx = vp_evaluation_next(run, &order, &turn)) && scheme->count < scheme->batch_most;) {
        uint64_t all = scheme->instructions + tx->program;
        if (tx->kind == VP_TX_ALONE || all > most || all > VP_MOST_INSTRUCTIONS) {
            result = tx->kind == VP_TX_ALONE ? VP_TX_WAITS_ALONE : scheme->count ? result : VP_TX_NO_MEMORY;
            break;
        }
        scheme->jobs[scheme->count++] = (vp_job){.tx = tx, .first_part = (uint32_t)scheme->instructions};
        scheme->instructions = all;
        if (!scheme->is_awake && all >= scheme->least)
            call(scheme);
        vp_evaluation_count(run, &order, tx);
        vp_evaluation_pass(run, &order, turn, tx);
    }
    run->order = order;
    return result;
}

/* One behind the other. */
static void run_in_order(vp_txscheme *scheme, vp_evaluation *run)
{
    vp_txundo undo = vp_txgroup_undo(scheme->group);
    for (uint32_t i = 0; i < scheme->count; i++)
        run->counts.aborted += vp_program_run(undo, &run->length, run->tables, scheme->jobs[i].tx, NULL) != VP_TX_DONE;
}

/* From the tables that the batch has begun with. */
static void redo(vp_txscheme *scheme, vp_evaluation *run)
{
    vp_txgroup_segments_back(scheme->group);
    run_in_order(scheme, run);
    scheme->redone++;
}

static void evaluate_small(vp_txscheme *scheme, vp_evaluation *run)
{
    scheme->small++;
    run_in_order(scheme, run);
    vp_evaluation_commit(run);
}

static void evaluate_batch(vp_txscheme *scheme, vp_evaluation *run)
{
    vp_txgroup *group = scheme->group;
    scheme->batch++;
    scheme->batches++;
    atomic_store_explicit(&scheme->is_wrong, false, memory_order_relaxed);
    barrier(scheme);
    work(&scheme->members[0]);
    VP_CRASH_POINT("scheme: done");
    if (atomic_load_explicit(&scheme->is_wrong, memory_order_relaxed)) {
        redo(scheme, run);
    } else {
        for (uint32_t i = 0; i < scheme->threads; i++)
            run->counts.aborted += scheme->members[i].aborted;
        run->length = vp_undo_write(vp_txgroup_undo(group), run->length, &group->segments, 0);
    }
    for (uint32_t i = 0; i < scheme->threads; i++)
        scheme->members[i].aborted = 0;
    vp_evaluation_commit(run);
}

/* A transaction that is larger than a batch, by itself. */
static bool evaluate_large(vp_evaluation *run)
{
    uint64_t turn;
    vp_tournament order = run->order;
    vp_tx *tx = vp_evaluation_next(run, &order, &turn);
    if (vp_program_words(run->tables, tx) > room_of(run))
        return false;
    vp_evaluation_count(run, &order, tx);
    vp_txundo undo = vp_txgroup_undo(run->group);
    run->counts.aborted += vp_program_run(undo, &run->length, run->tables, tx, NULL) != VP_TX_DONE;
    vp_evaluation_pass(run, &order, turn, tx);
    run->order = order;
    vp_evaluation_commit(run);
    return true;
}

int vp_scheme_run(vp_evaluation *run, void *context)
{
    vp_txscheme *scheme = context;
    int result;
    scheme->run = run;
    do {
        result = collect(scheme, run);
        if (scheme->count && scheme->instructions < scheme->least)
            evaluate_small(scheme, run);
        else if (scheme->count)
            evaluate_batch(scheme, run);
        else if (result == VP_TX_NO_MEMORY && evaluate_large(run))
            scheme->count = 1;
    } while (scheme->count && result != VP_TX_WAITS_ALONE);
    end_call(scheme);
    return result;
}

void vp_scheme_become(vp_txscheme *scheme, uint32_t kind)
{
    /* The others read the steps behind the barrier that begins a batch. */
    scheme->kind = kind;
    scheme->steps = *STEPS[kind];
}

int vp_txscheme_evaluate(vp_txscheme *scheme, uint32_t holder, int32_t me, int32_t *who)
{
    return vp_evaluate_by(scheme->group, holder, me, who, vp_scheme_run, scheme);
}

uint64_t vp_txscheme_batches(const vp_txscheme *scheme)
{
    return scheme->batches;
}

uint64_t vp_txscheme_redone(const vp_txscheme *scheme)
{
    return scheme->redone;
}

/* -- making and freeing */

uint64_t vp_txscheme_size(uint32_t threads)
{
    if (!threads || threads > VP_SCHEME_THREADS)
        return 0;
    return VP_LINE + threads * (sizeof(vp_txsegment) + VP_TX_UNDO_ROOM * sizeof(vp_txbefore));
}

static uint64_t count_records(vp_txscheme *scheme)
{
    uint64_t records = 0;
    for (uint32_t number = 0; number < scheme->group->tables; number++) {
        scheme->first_record[number] = records;
        records += vp_shared_capacity(vp_txgroup_table(scheme->group, number));
    }
    return records;
}

static bool new_member(vp_txscheme *scheme, uint32_t index, uint64_t records)
{
    vp_txscheme_thread *self = &scheme->members[index];
    bool has_versions = scheme->kind == VP_SCHEME_VERSIONS;
    vp_txbefore *entries = malloc(VP_TX_UNDO_ROOM * sizeof *entries);
    *self = (vp_txscheme_thread){.scheme = scheme, .index = index};
    self->undo = (vp_txundo){vp_txgroup_arena(scheme->group), entries, &self->undo_length};
    self->seen = calloc(records, sizeof *self->seen);
    self->rows = has_versions ? malloc(UINT16_MAX * sizeof *self->rows) : NULL;
    self->images = has_versions ? malloc(2 * VP_TX_UNDO_ROOM * sizeof *self->images) : NULL;
    return entries && self->seen && (!has_versions || (self->rows && self->images));
}

static bool start_threads(vp_txscheme *scheme)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = true;
    for (scheme->started = 1; is_started && scheme->started < scheme->threads; scheme->started += is_started) {
        vp_txscheme_thread *next = &scheme->members[scheme->started];
        is_started = pthread_create(&next->id, NULL, member, next) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static bool start(vp_txscheme *scheme)
{
    uint64_t records = count_records(scheme);
    scheme->jobs = malloc(scheme->batch_most * sizeof *scheme->jobs);
    scheme->parts = malloc(VP_MOST_INSTRUCTIONS * sizeof *scheme->parts);
    scheme->part_of = malloc(VP_MOST_INSTRUCTIONS * sizeof *scheme->part_of);
    scheme->tickets = malloc(VP_MOST_INSTRUCTIONS * sizeof *scheme->tickets);
    scheme->records = calloc(records, sizeof *scheme->records);
    if (!scheme->jobs || !scheme->parts || !scheme->part_of || !scheme->tickets || !scheme->records)
        return false;
    for (uint32_t i = 0; i < scheme->threads; i++)
        if (!new_member(scheme, i, records))
            return false;
    return start_threads(scheme);
}

vp_txscheme *vp_txscheme_new(vp_txgroup *group, uint64_t region, uint32_t kind, uint32_t threads, uint32_t batch,
                             uint32_t partitions)
{
    if (!vp_txscheme_size(threads) || kind < 1 || kind >= KINDS || !partitions || partitions > VP_SCHEME_PARTITIONS)
        return NULL;
    vp_txscheme *scheme = aligned_alloc(VP_LINE, (sizeof *scheme + VP_LINE - 1) / VP_LINE * VP_LINE);
    if (scheme == NULL)
        return NULL;
    memset(scheme, 0, sizeof *scheme);
    scheme->group = group;
    scheme->segments_at = region;
    scheme->segments = (vp_txsegments *)(vp_txgroup_arena(group) + region);
    scheme->segments->count = threads;
    scheme->kind = kind;
    scheme->threads = threads;
    scheme->batch_most = batch && batch < MOST_BATCH ? batch : MOST_BATCH;
    scheme->partitions = partitions;
    scheme->steps = *STEPS[kind];
    pthread_mutex_init(&scheme->lock, NULL);
    pthread_cond_init(&scheme->wake, NULL);
    if (start(scheme))
        return scheme;
    vp_txscheme_free(scheme);
    return NULL;
}

void vp_txscheme_free(vp_txscheme *scheme)
{
    pthread_mutex_lock(&scheme->lock);
    scheme->is_ended = true;
    pthread_cond_broadcast(&scheme->wake);
    pthread_mutex_unlock(&scheme->lock);
    for (uint32_t i = 1; i < scheme->started; i++)
        pthread_join(scheme->members[i].id, NULL);
    for (uint32_t i = 0; i < scheme->threads; i++) {
        vp_txscheme_thread *self = &scheme->members[i];
        free(self->undo.entries);
        free(self->seen);
        free(self->rows);
        free(self->images);
    }
    pthread_cond_destroy(&scheme->wake);
    pthread_mutex_destroy(&scheme->lock);
    free(scheme->jobs);
    free(scheme->parts);
    free(scheme->part_of);
    free(scheme->tickets);
    free(scheme->records);
    free(scheme);
}
