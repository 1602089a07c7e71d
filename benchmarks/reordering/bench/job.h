/* The work of one operator: what each of its inputs costs, which partition it belongs to, and when it is there. */
#ifndef REORDERING_JOB_H
#define REORDERING_JOB_H

#include <stdbool.h>
#include <stdint.h>

enum { JOB_PARTITIONS = 256 };

/* Microseconds an input. */
typedef struct {
    const char *name;
    double least, most; /* drawn between the two, their logarithms evenly */
} job_cost;

typedef struct {
    uint64_t inputs;
    float *costs;        /* microseconds of each input */
    uint8_t *partitions; /* of each input */
    double mean_us;
    double rate; /* inputs a second; 0: all are there at the start */
    bool waits;  /* costs are times of waiting, as for a service */
    uint64_t started; /* by job_now */
} b_job;

/* Draws inputs from a fixed seed. Partitions are those of keys that Zipf's law draws by `zipf`; 0: evenly. */
b_job job_new(uint64_t inputs, job_cost cost, double zipf);
void job_free(b_job *job);

uint64_t job_now(void); /* nanoseconds */

/* Measures once how fast this machine is, so that costs can be spent. */
void job_calibrate(void);

/* Spends what an input costs. */
void job_work(const b_job *job, uint64_t input);

/* How many inputs are there by now, and, in nanoseconds after the start, since when the last of `count` is. */
uint64_t job_arrived(const b_job *job);
uint64_t job_due(const b_job *job, uint64_t count);

/* For a thread that found nothing to do, `times` in a row. */
void job_rest(uint32_t *times);

#endif
