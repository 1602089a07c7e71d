#include "run.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GATE_AT = RUN_LINE, MOST_TAKEN = 4096 };

typedef struct {
    b_run *run;
    uint32_t worker;
} task;

/* The reader of the gate. */
typedef struct {
    vp_merge *merge;
    vp_positions *into;
    vp_run runs[MOST_TAKEN];
    uint64_t seen;
    uint64_t *latencies; /* nanoseconds, by input */
} consumer;

void *run_memory(uint64_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, 4096, bytes) != 0) {
        fprintf(stderr, "found no memory for %" PRIu64 " bytes\n", bytes);
        exit(1);
    }
    return memset(block, 0, bytes); /* touched, so that this is not measured */
}

void run_add(b_run *run, uint32_t source, const uint64_t *serials, uint64_t count)
{
    vp_position positions[RUN_CLAIM];
    vp_ring *ring = vp_gate_ring(run->gate, source);
    for (uint64_t i = 0; i < count; i++)
        positions[i] = (vp_position){.ts = (int64_t)serials[i]};
    vp_positions jumbo = {.data = positions, .length = count, .capacity = count};
    int64_t slot;
    for (uint32_t times = 0; (slot = vp_ring_claim(ring, &jumbo, 0, count, 0)) == VP_FULL;)
        job_rest(&times);
    if (slot < 0) {
        fprintf(stderr, "%s: the gate refused the outputs from input %" PRIu64 " on with %" PRId64 ", expected room\n",
                run->way->name, serials[0], slot);
        exit(1);
    }
    vp_ring_publish(ring);
}

void run_promise(b_run *run, uint32_t source, uint64_t serial)
{
    vp_ring *ring = vp_gate_ring(run->gate, source);
    vp_ring_heartbeat(&ring, 1, (vp_position){.ts = (int64_t)serial});
}

void run_rest(b_run *run, uint32_t worker, uint32_t *times)
{
    _Atomic uint64_t *state = &run->sources[worker].state;
    atomic_store_explicit(state, RUN_RESTS, memory_order_release);
    job_rest(times);
    for (uint64_t found = RUN_RESTS; !atomic_compare_exchange_strong_explicit(state, &found, RUN_BUSY, memory_order_acquire,
                                                                              memory_order_relaxed);)
        found = RUN_RESTS; /* the reader holds it for as long as a promise takes */
}

/* Promises for a worker that rests, if all else waits for it. The worker cannot claim below the cursor that is read
 * here, as it looks at the cursor after it has its source back. */
static bool help(b_run *run, int64_t source)
{
    uint64_t found = RUN_RESTS;
    if (source < 0 || !run->way->is_helped)
        return false;
    _Atomic uint64_t *state = &run->sources[source].state;
    if (!atomic_compare_exchange_strong_explicit(state, &found, RUN_HELD, memory_order_acquire, memory_order_relaxed))
        return false;
    vp_ring *ring = vp_gate_ring(run->gate, (uint32_t)source);
    uint64_t cursor = atomic_load_explicit(&run->cursor, memory_order_relaxed);
    bool is_further = vp_ring_floor(ring).ts < (int64_t)cursor;
    if (is_further)
        run_promise(run, (uint32_t)source, cursor);
    atomic_store_explicit(state, RUN_RESTS, memory_order_release);
    return is_further;
}

static void *work(void *argument)
{
    const task *own = argument;
    uint32_t times = 0;
    atomic_fetch_add_explicit(&own->run->begun, 1, memory_order_release);
    while (!atomic_load_explicit(&own->run->is_started, memory_order_acquire))
        job_rest(&times);
    own->run->way->work(own->run, own->worker);
    if (own->run->way->is_merged)
        vp_ring_close(vp_gate_ring(own->run->gate, own->worker));
    return NULL;
}

static void note(const b_run *run, consumer *reader)
{
    uint64_t after = job_now() - run->job.started;
    for (uint64_t i = 0; i < reader->into->length; i++, reader->seen++) {
        if ((uint64_t)reader->into->data[i].ts != reader->seen) {
            fprintf(stderr, "%s: found the output of input %" PRId64 ", expected that of %" PRIu64 "\n", run->way->name,
                    reader->into->data[i].ts, reader->seen);
            exit(1);
        }
        uint64_t due = job_due(&run->job, reader->seen + 1);
        reader->latencies[reader->seen] = after > due ? after - due : 0;
    }
}

static void consume(b_run *run, consumer *reader)
{
    for (uint32_t times = 0; reader->seen < run->job.inputs;) {
        reader->into->length = 0;
        if (vp_merge_take(reader->merge, reader->into, MOST_TAKEN, reader->runs, MOST_TAKEN) <= 0) {
            if (!help(run, vp_merge_holding(reader->merge)))
                job_rest(&times);
            continue;
        }
        vp_merge_release(reader->merge);
        note(run, reader);
        times = 0;
    }
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static run_result result_of(const b_run *run, consumer *reader)
{
    uint64_t inputs = run->job.inputs;
    run_result made = {.seconds = (double)(job_now() - run->job.started) / 1e9};
    if (run->job.rate > 0) {
        qsort(reader->latencies, inputs, sizeof *reader->latencies, compare);
        made.p50_us = (double)reader->latencies[inputs / 2] / 1e3;
        made.p99_us = (double)reader->latencies[inputs * 99 / 100] / 1e3;
    }
    return made;
}

static run_result run_threads(b_run *run, consumer *reader)
{
    pthread_t threads[RUN_WORKERS];
    task tasks[RUN_WORKERS];
    for (uint32_t i = 0; i < run->workers; i++) {
        tasks[i] = (task){run, i};
        if (pthread_create(&threads[i], NULL, work, &tasks[i]) != 0)
            abort(); /* those before it wait for the start */
    }
    while (atomic_load_explicit(&run->begun, memory_order_acquire) < run->workers)
        sched_yield();
    run->job.started = job_now();
    atomic_store_explicit(&run->is_started, 1, memory_order_release);
    consume(run, reader);
    run_result made = result_of(run, reader);
    for (uint32_t i = 0; i < run->workers; i++)
        pthread_join(threads[i], NULL);
    return made;
}

run_result run_job(const b_run *plan)
{
    b_run run = *plan;
    vp_gate_shape shape = {run.way->is_merged ? run.workers : 1, 1, (uint32_t)run.room, (uint32_t)run.room, 0, false};
    char *memory = run_memory(GATE_AT + vp_gate_size(shape));
    run.gate = vp_gate_format(memory, GATE_AT, shape);
    if (run.way->prepare)
        run.way->prepare(&run);
    consumer reader = {.merge = vp_merge_new(run.gate, 0), .into = vp_positions_new()};
    reader.latencies = run_memory(run.job.inputs * sizeof *reader.latencies);
    if (!reader.merge || !reader.into)
        abort();
    run_result made = run_threads(&run, &reader);
    if (run.way->finish)
        run.way->finish(&run);
    vp_merge_free(reader.merge);
    vp_positions_free(reader.into);
    free(reader.latencies);
    free(run.structure);
    free(memory);
    return made;
}
