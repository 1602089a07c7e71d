#include "ways.h"

#include <stdlib.h>

#include "../structures/buffer.h"
#include "../structures/heap.h"
#include "../structures/hybrid.h"

/* ---- what workers do with the outputs of a claim ---- */

static void send_to_buffer(ro_buffer *buffer, uint64_t first, uint64_t count)
{
    uint32_t times = 0;
    while (!ro_buffer_send(buffer, first, count, first))
        job_rest(&times);
}

static void put_into_buffer(b_run *run, uint32_t worker, uint64_t first, uint64_t count)
{
    (void)worker;
    send_to_buffer(run->structure, first, count);
}

static void put_into_heap(b_run *run, uint32_t worker, uint64_t first, uint64_t count)
{
    uint32_t times = 0;
    (void)worker;
    while (!ro_heap_send(run->structure, first, count, first))
        job_rest(&times);
}

static void put_into_gate(b_run *run, uint32_t worker, uint64_t first, uint64_t count)
{
    uint64_t serials[RUN_CLAIM];
    for (uint64_t i = 0; i < count; i++)
        serials[i] = first + i;
    run_add(run, worker, serials, count);
}

/* What restores the order, on the way to the gate's only source. */
static void send_downstream(void *context, uint64_t first, uint64_t count, uint64_t output)
{
    (void)output;
    put_into_gate(context, 0, first, count);
}

/* ---- without state ---- */

/* A worker promises the start of its next claim before it claims: it ascends from claim to claim, so its outputs are
 * sorted. Only the merge goes by promises. */
static void claim_and_work(b_run *run, uint32_t worker)
{
    uint32_t times = 0;
    for (uint64_t first; (first = atomic_load_explicit(&run->cursor, memory_order_relaxed)) < run->job.inputs;) {
        if (run->way->is_merged)
            run_promise(run, worker, first);
        uint64_t there = job_arrived(&run->job);
        if (there <= first) {
            run_rest(run, worker, &times);
            continue;
        }
        uint64_t count = run_claim_of(run, there - first);
        /* Relaxed: a claim says who works on what, and the inputs were there before all workers. */
        if (!atomic_compare_exchange_strong_explicit(&run->cursor, &first, first + count, memory_order_relaxed,
                                                     memory_order_relaxed))
            continue;
        times = 0;
        for (uint64_t i = first; i < first + count; i++)
            job_work(&run->job, i);
        run->way->put(run, worker, first, count);
    }
}

static void prepare_buffer(b_run *run)
{
    run->structure = ro_buffer_format(run_memory(ro_buffer_size(run->room)), run->room, (ro_downstream){send_downstream, run});
}

static void prepare_heap(b_run *run)
{
    run->structure = ro_heap_format(run_memory(ro_heap_size(run->room)), run->room, (ro_downstream){send_downstream, run});
}

static const b_way by_buffer = {
    .name = "buffer", .prepare = prepare_buffer, .work = claim_and_work, .put = put_into_buffer,
};
static const b_way by_merge = {.name = "merge", .is_merged = true, .work = claim_and_work, .put = put_into_gate};
static const b_way by_helped_merge = {
    .name = "helped merge", .is_merged = true, .is_helped = true, .work = claim_and_work, .put = put_into_gate,
};
static const b_way by_heap = {.name = "heap", .prepare = prepare_heap, .work = claim_and_work, .put = put_into_heap};

const b_way *const stateless_ways[MOST_WAYS + 1] = {&by_buffer, &by_merge, &by_helped_merge, &by_heap};

/* ---- by partition ---- */

typedef struct {
    alignas(RUN_LINE) _Atomic uint64_t turn; /* tuples of the partition that are done */
} ticket_lock;

typedef struct {
    ro_buffer *buffer;
    ro_hybrid *queue;  /* of the hybrid queue alone */
    uint64_t *tickets; /* of locks alone, for each input: the number of inputs of its partition before it */
    alignas(RUN_LINE) _Atomic uint64_t is_producing; /* a worker adds to the queue; likewise what follows */
    uint64_t added;
    ticket_lock locks[JOB_PARTITIONS];
} keyed;

static void prepare_keyed(b_run *run)
{
    keyed *made = run->structure = run_memory(sizeof *made);
    made->buffer = ro_buffer_format(run_memory(ro_buffer_size(run->room)), run->room, (ro_downstream){send_downstream, run});
}

static void prepare_hybrid(b_run *run)
{
    prepare_keyed(run);
    keyed *made = run->structure;
    made->queue = ro_hybrid_format(run_memory(ro_hybrid_size(JOB_PARTITIONS, run->room)), JOB_PARTITIONS, run->room);
}

static void prepare_locks(b_run *run)
{
    prepare_keyed(run);
    keyed *made = run->structure;
    uint64_t counts[JOB_PARTITIONS] = {0};
    made->tickets = run_memory(run->job.inputs * sizeof *made->tickets);
    for (uint64_t i = 0; i < run->job.inputs; i++)
        made->tickets[i] = counts[run->job.partitions[i]]++;
}

static void finish_keyed(b_run *run)
{
    keyed *its = run->structure;
    free(its->buffer);
    free(its->queue);
    free(its->tickets);
}

static void work_on(void *context, uint64_t partition, uint64_t tuple)
{
    b_run *own = context;
    keyed *its = own->structure;
    (void)partition;
    job_work(&own->job, tuple);
    send_to_buffer(its->buffer, tuple, 1);
}

/* Adds what has arrived to the queue, unless another does. The paper has this done by whoever sends downstream at the
 * operator before, which is one worker at a time, too. */
static void produce(b_run *run, keyed *its)
{
    if (atomic_exchange_explicit(&its->is_producing, 1, memory_order_acquire))
        return;
    uint64_t there = job_arrived(&run->job);
    uint64_t most = its->added + run->claim * run->workers;
    while (its->added < there && its->added < most && ro_hybrid_add(its->queue, run->job.partitions[its->added], its->added))
        its->added++;
    if (its->added == run->job.inputs)
        atomic_store_explicit(&run->cursor, its->added, memory_order_release);
    atomic_store_explicit(&its->is_producing, 0, memory_order_release);
}

/* A worker ends when all was added before it found the master queue empty: what others own, they work on. */
static void work_by_hybrid_queue(b_run *run, uint32_t worker)
{
    keyed *its = run->structure;
    uint32_t times = 0;
    (void)worker;
    for (bool all_added = false; !all_added;) {
        all_added = atomic_load_explicit(&run->cursor, memory_order_acquire) == run->job.inputs;
        if (!all_added)
            produce(run, its);
        bool worked = false;
        while (ro_hybrid_consume(its->queue, work_on, run))
            worked = true;
        times = worked ? 0 : times;
        if (!worked && !all_added)
            job_rest(&times);
    }
}

static void work_by_locks(b_run *run, uint32_t worker)
{
    keyed *its = run->structure;
    uint32_t times = 0;
    (void)worker;
    for (uint64_t next; (next = atomic_load_explicit(&run->cursor, memory_order_relaxed)) < run->job.inputs;) {
        if (job_arrived(&run->job) <= next) {
            job_rest(&times);
            continue;
        }
        if (!atomic_compare_exchange_strong_explicit(&run->cursor, &next, next + 1, memory_order_relaxed,
                                                     memory_order_relaxed))
            continue;
        times = 0;
        ticket_lock *lock = &its->locks[run->job.partitions[next]];
        for (uint32_t tries = 0; atomic_load_explicit(&lock->turn, memory_order_acquire) != its->tickets[next];)
            job_rest(&tries);
        job_work(&run->job, next);
        atomic_store_explicit(&lock->turn, its->tickets[next] + 1, memory_order_release);
        send_to_buffer(its->buffer, next, 1);
    }
}

/* The worker passes over the inputs of others, as tasks do that share an input. */
static void work_by_plan(b_run *run, uint32_t worker)
{
    uint64_t serials[RUN_CLAIM], count = 0;
    uint32_t times = 0;
    for (uint64_t next = 0; next < run->job.inputs;) {
        uint64_t there = job_arrived(&run->job);
        uint64_t end = there < next + RUN_CLAIM ? there : next + RUN_CLAIM;
        if (end == next) {
            job_rest(&times);
            continue;
        }
        times = 0;
        for (; next < end && count < run->claim; next++)
            if (run->job.partitions[next] * run->workers / JOB_PARTITIONS == worker) {
                job_work(&run->job, next);
                serials[count++] = next;
            }
        if (count > 0)
            run_add(run, worker, serials, count);
        count = 0;
        run_promise(run, worker, next);
    }
}

static const b_way by_hybrid_queue = {
    .name = "hybrid queue", .prepare = prepare_hybrid, .work = work_by_hybrid_queue, .finish = finish_keyed,
};
static const b_way by_plan = {.name = "dealt beforehand", .is_merged = true, .work = work_by_plan};
static const b_way by_locks = {
    .name = "lock per partition", .prepare = prepare_locks, .work = work_by_locks, .finish = finish_keyed,
};

const b_way *const keyed_ways[MOST_WAYS + 1] = {&by_hybrid_queue, &by_plan, &by_locks};
