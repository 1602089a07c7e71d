/* One run of a job by one way: workers as threads, and behind them a reader of a gate that must see all inputs' serial
 * numbers in order. */
#ifndef REORDERING_RUN_H
#define REORDERING_RUN_H

#include <stdalign.h>
#include <stdatomic.h>

#include "job.h"
#include "viper/merge.h"

enum { RUN_WORKERS = 64, RUN_CLAIM = 256, RUN_LINE = 128 };

typedef struct b_run b_run;

/* A way to share the inputs among workers and to bring their outputs back in order. */
typedef struct {
    const char *name;
    bool is_merged; /* each worker is a source of the gate; else there is one source, for one worker at a time */
    bool is_helped; /* the gate's reader promises in the place of a worker that rests */
    void (*prepare)(b_run *run); /* NULL: nothing to do */
    void (*work)(b_run *run, uint32_t worker); /* returns when no input is left */
    void (*put)(b_run *run, uint32_t worker, uint64_t first, uint64_t count); /* outputs of a claim, for `work` */
    void (*finish)(b_run *run); /* NULL: nothing to do */
} b_way;

/* Whoever has set it to RUN_HELD, or the worker while it is RUN_BUSY, acts as the source. */
enum { RUN_BUSY, RUN_RESTS, RUN_HELD };
typedef struct {
    alignas(RUN_LINE) _Atomic uint64_t state;
} run_source;

struct b_run {
    b_job job;
    const b_way *way;
    uint32_t workers;
    uint64_t claim; /* the most inputs that a worker takes at once, at most RUN_CLAIM */
    uint64_t room;  /* inputs that outputs can be ahead of the one that is due; a power of two */
    vp_gate *gate;
    void *structure; /* of the way */
    alignas(RUN_LINE) _Atomic uint64_t cursor; /* inputs that were claimed */
    alignas(RUN_LINE) _Atomic uint64_t begun;  /* workers that wait for the start */
    _Atomic uint64_t is_started;
    run_source sources[RUN_WORKERS];
};

/* How many inputs to claim if so many wait. */
static inline uint64_t run_claim_of(const b_run *run, uint64_t waiting)
{
    uint64_t count = waiting / (2 * run->workers);
    return count < 1 ? 1 : count < run->claim ? count : run->claim;
}

/* Adds outputs of `count` inputs, at most RUN_CLAIM, to a source of the gate; waits where it is full. */
void run_add(b_run *run, uint32_t source, const uint64_t *serials, uint64_t count);

/* Says that nothing below an input will come from a source. */
void run_promise(b_run *run, uint32_t source, uint64_t serial);

/* Rests as job_rest does; meanwhile the reader may promise for the worker. */
void run_rest(b_run *run, uint32_t worker, uint32_t *times);

/* Zeroed memory, which starts a cache line; ends the program if there is none. */
void *run_memory(uint64_t bytes);

typedef struct {
    double seconds;        /* from the start to the last output */
    double p50_us, p99_us; /* from when an input was there to its output, if they came at a rate */
} run_result;

/* Runs a plan, which has its job, way, workers, claim and room. Ends the program if the outputs are not all there, once and in order. */
run_result run_job(const b_run *plan);

#endif
