#define _GNU_SOURCE

#include "job.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { KEYS = 100000, YIELDS = 20, REST_NS = 20000 };

static double turns_per_us;
static _Thread_local uint64_t spun = UINT64_C(88172645463325252);

uint64_t job_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Counted in turns, not by the clock, so that a thread that lost its processor still has all its work before it. */
static void spin(uint64_t turns)
{
    uint64_t value = spun;
    for (uint64_t i = 0; i < turns; i++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    spun = value;
}

void job_calibrate(void)
{
    enum { TURNS = 3000000, TRIES = 9 };
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = job_now();
        spin(TURNS);
        uint64_t taken = job_now() - before;
        best = taken < best ? taken : best;
    }
    turns_per_us = TURNS / (best / 1000.0);
}

static void wait_for(double us)
{
    struct timespec time = {(time_t)(us / 1e6), (long)(fmod(us, 1e6) * 1000)};
    nanosleep(&time, NULL);
}

void job_work(const b_job *job, uint64_t input)
{
    double us = (double)job->costs[input];
    if (us > 0 && job->waits)
        wait_for(us);
    else if (us > 0)
        spin((uint64_t)(us * turns_per_us));
}

static double draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-53;
}

/* A key of Zipf's law, by its cumulated weights. */
static uint32_t draw_key(const double *weights, uint64_t *state)
{
    double place = draw(state) * weights[KEYS - 1];
    uint32_t low = 0, high = KEYS - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (weights[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

b_job job_new(uint64_t inputs, job_cost cost, double zipf)
{
    b_job made = {.inputs = inputs};
    uint64_t state = 12345;
    double total = 0, *weights = malloc(KEYS * sizeof *weights);
    made.costs = malloc(inputs * sizeof *made.costs);
    made.partitions = malloc(inputs);
    if (!weights || !made.costs || !made.partitions)
        abort();
    for (uint32_t key = 0; key < KEYS; key++)
        weights[key] = pow(key + 1, -zipf) + (key ? weights[key - 1] : 0);
    for (uint64_t i = 0; i < inputs; i++) {
        double us = cost.least < cost.most ? cost.least * pow(cost.most / cost.least, draw(&state)) : cost.most;
        made.costs[i] = (float)us;
        total += us;
        made.partitions[i] = (uint8_t)(draw_key(weights, &state) * UINT64_C(0x9E3779B97F4A7C15) >> 56);
    }
    free(weights);
    made.mean_us = total / (double)inputs;
    return made;
}

void job_free(b_job *job)
{
    free(job->costs);
    free(job->partitions);
}

uint64_t job_due(const b_job *job, uint64_t count)
{
    return job->rate > 0 ? (uint64_t)((double)count * 1e9 / job->rate) : 0;
}

uint64_t job_arrived(const b_job *job)
{
    if (job->rate <= 0)
        return job->inputs;
    double count = (double)(job_now() - job->started) / 1e9 * job->rate;
    return count < (double)job->inputs ? (uint64_t)count : job->inputs;
}

void job_rest(uint32_t *times)
{
    static _Thread_local bool is_precise;
    if (++*times <= YIELDS) {
        sched_yield();
        return;
    }
    if (!is_precise)
        is_precise = prctl(PR_SET_TIMERSLACK, 1) == 0;
    nanosleep(&(struct timespec){0, REST_NS}, NULL);
}
