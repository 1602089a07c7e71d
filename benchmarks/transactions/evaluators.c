/* How fast transactions are evaluated that lie in the logs of several tasks already.
 *
 *     evaluators [--load N] [--rounds N] [--transactions N] [--logs N] [--rows N] [--accesses N] [--skew X]
 *
 * Each round begins with the same tables and logs. Times are the median of all rounds, and of processor time the best
 * one as well, which other work on the machine has disturbed least.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load.h"

enum { MOST_ROUNDS = 1000 };

typedef struct {
    load_shape shape;
    uint32_t rounds;
    int32_t only; /* a kind of load, -1: all */
} options;

typedef struct {
    const char *name;
    void (*evaluate)(vp_txgroup *group, uint32_t threads);
    uint32_t threads;
    bool is_wrong; /* it gives other results, and is there for comparison */
} evaluator;

static void serial(vp_txgroup *group, uint32_t threads)
{
    int32_t who;
    (void)threads;
    if (vp_txgroup_evaluate(group, 1, 0, &who) != VP_TX_PROGRESSED)
        abort();
}

static const evaluator EVALUATORS[] = {
    {"serial", serial, 1, false},
};

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *of, uint32_t count)
{
    qsort(of, count, sizeof *of, compare);
    return of[count / 2];
}

static void measure(const options *with, load *of, const evaluator *by, uint64_t *expected)
{
    double wall[MOST_ROUNDS], cpu[MOST_ROUNDS];
    for (uint32_t round = 0; round < with->rounds; round++) {
        load_reset(of);
        double cpu_begun = now(CLOCK_PROCESS_CPUTIME_ID), begun = now(CLOCK_MONOTONIC);
        by->evaluate(of->group, by->threads);
        wall[round] = now(CLOCK_MONOTONIC) - begun;
        cpu[round] = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_begun;
    }
    uint64_t found = load_checksum(of);
    bool is_first = !*expected;
    *expected = is_first ? found : *expected;
    if (!by->is_wrong && found != *expected) {
        fprintf(stderr, "%s: results differ\n", by->name);
        exit(1);
    }
    vp_txcounts counts;
    vp_txgroup_counts(of->group, &counts);
    double count = of->shape.transactions, elapsed = median(wall, with->rounds), used = median(cpu, with->rounds);
    printf("%-14s %-12s %7u %10.2f %10.1f %10.1f %8.2f %%\n", load_names[of->shape.kind], by->name, by->threads,
           count / elapsed * 1e3, used / count, cpu[0] / count, 100.0 * (double)counts.aborted / count);
    fflush(stdout);
}

static void measure_load(const options *with, load_kind kind)
{
    load_shape shape = with->shape;
    shape.kind = kind;
    load *of = load_new(shape);
    if (!of) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    uint64_t expected = 0;
    for (uint32_t i = 0; i < sizeof EVALUATORS / sizeof *EVALUATORS; i++)
        measure(with, of, &EVALUATORS[i], &expected);
    load_free(of);
}

static options read_options(int argc, char **argv)
{
    options with = {{.transactions = 40000, .rows = 10000, .logs = 4, .accesses = 10, .skew = 0.6, .seed = 1}, 25, -1};
    for (int i = 1; i + 1 < argc; i += 2) {
        double value = strtod(argv[i + 1], NULL);
        const char *name = argv[i];
        if (!strcmp(name, "--load"))
            with.only = (int32_t)value;
        else if (!strcmp(name, "--rounds"))
            with.rounds = value < MOST_ROUNDS ? (uint32_t)value : MOST_ROUNDS;
        else if (!strcmp(name, "--transactions"))
            with.shape.transactions = (uint32_t)value;
        else if (!strcmp(name, "--logs"))
            with.shape.logs = value < MOST_LOGS ? (uint32_t)value : MOST_LOGS;
        else if (!strcmp(name, "--rows"))
            with.shape.rows = (uint32_t)value;
        else if (!strcmp(name, "--accesses"))
            with.shape.accesses = (uint32_t)value;
        else if (!strcmp(name, "--skew"))
            with.shape.skew = value;
        else {
            fprintf(stderr, "no such option: %s\n", name);
            exit(1);
        }
    }
    return with;
}

int main(int argc, char **argv)
{
    options with = read_options(argc, argv);
    printf("%-14s %-12s %7s %10s %10s %10s %10s\n", "load", "evaluator", "threads", "M/s", "ns of CPU", "the best",
           "aborted");
    for (uint32_t kind = 0; kind < LOADS; kind++)
        if (with.only < 0 || with.only == (int32_t)kind)
            measure_load(&with, kind);
    return 0;
}
