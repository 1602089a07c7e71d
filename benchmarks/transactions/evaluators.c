/* How fast transactions are evaluated that lie in the logs of several tasks already.
 *
 *     evaluators [--load N] [--evaluator N] [--rounds N] [--transactions N] [--logs N] [--rows N] [--accesses N]
 *                [--skew X] [--reads X] [--threads N] [--batch N] [--partitions N [--crossing X] [--length N]]
 *                [--cost NS] [--gather N] [--warm-up N] [--json]
 *
 * Each round begins with the same tables and logs; those of the warm-up are not measured. Times are the median of all rounds, and of processor time the best
 * one as well, which other work on the machine has disturbed least.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cost.h"
#include "load.h"
#include "paths.h"

enum { MOST_ROUNDS = 1000, PAPERS_BATCH = 500 };

typedef struct {
    load_shape shape;
    uint32_t rounds, warm_up, threads, batch, partitions; /* threads: up to so many; partitions: 0: one for each thread */
    int32_t only, evaluator;                     /* a kind of load, and an evaluator beside the serial one; -1: all */
    bool as_json;                                /* an object for each line */
} options;

typedef struct {
    const char *name;
    uint32_t scheme; /* 0: the serial evaluator */
    bool is_wrong;   /* it gives other results, and is there for comparison */
} evaluator;

static const evaluator EVALUATORS[] = {
    {"serial", 0, false},
    {"chains", VP_SCHEME_CHAINS, false},
    {"locks", VP_SCHEME_LOCKS, false},
    {"versions", VP_SCHEME_VERSIONS, false},
    {"partition locks", VP_SCHEME_PARTITION_LOCKS, false},
    {"partitions apart", VP_SCHEME_PARTITIONS_APART, false},
    {"no locks", VP_SCHEME_NO_LOCKS, true},
    {"default", VP_CHOICE_AUTO, false},
};

/* What an evaluator has beside the group. */
typedef struct {
    vp_txscheme *scheme;
    vp_txchoice *choice;
} engine;

static engine engine_new(const options *with, const load *of, const evaluator *by, uint32_t threads)
{
    engine made = {NULL, NULL};
    uint32_t partitions = with->partitions ? with->partitions : threads;
    if (by->scheme == VP_CHOICE_AUTO)
        made.choice = vp_txchoice_new(of->group, of->region_at, by->scheme, threads);
    else if (by->scheme)
        made.scheme = vp_txscheme_new(of->group, of->region_at, by->scheme, threads, with->batch, partitions);
    return made;
}

static void engine_free(engine made)
{
    if (made.scheme)
        vp_txscheme_free(made.scheme);
    if (made.choice)
        vp_txchoice_free(made.choice);
}

static void evaluate_collected(const load *of, engine by)
{
    int32_t who;
    int told = by.scheme   ? vp_txscheme_evaluate(by.scheme, 1, 0, &who)
               : by.choice ? vp_txchoice_evaluate(by.choice, 1, 0, &who)
                           : vp_txgroup_evaluate(of->group, 1, 0, &who);
    if (told != VP_TX_PROGRESSED)
        abort();
}

static void evaluate(load *of, engine by)
{
    const uint32_t all = of->shape.transactions, each = of->shape.gather ? of->shape.gather : all;
    for (uint32_t behind = 0; behind < all; behind += each) {
        load_collect(of, behind + each);
        evaluate_collected(of, by);
    }
}

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

static void measure(const options *with, load *of, const evaluator *by, uint32_t threads, uint64_t *expected)
{
    double wall[MOST_ROUNDS], cpu[MOST_ROUNDS];
    load_reset(of);
    engine made = engine_new(with, of, by, threads);
    for (uint32_t round = 0; round < with->warm_up; round++) {
        load_reset(of);
        evaluate(of, made);
    }
    for (uint32_t round = 0; round < with->rounds; round++) {
        load_reset(of);
        double cpu_begun = now(CLOCK_PROCESS_CPUTIME_ID), begun = now(CLOCK_MONOTONIC);
        evaluate(of, made);
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
    engine_free(made);
    vp_txcounts counts;
    vp_txgroup_counts(of->group, &counts);
    double count = of->shape.transactions, elapsed = median(wall, with->rounds), used = median(cpu, with->rounds);
    const char *form = with->as_json
        ? "{\"load\": \"%s\", \"evaluator\": \"%s\", \"threads\": %u, \"median\": %.4f, \"best\": %.4f, "
          "\"cpu\": %.2f, \"best_cpu\": %.2f, \"aborted\": %.4f, \"wrong\": %s}\n"
        : "%-14s %-16s %7u %10.2f %10.2f %10.1f %10.1f %8.2f %%\n";
    printf(form, load_names[of->shape.kind], by->name, threads, count / elapsed * 1e3, count / wall[0] * 1e3, used / count,
           cpu[0] / count, 100.0 * (double)counts.aborted / count, by->is_wrong ? "true" : "false");
    fflush(stdout);
}

static void print_paths(const options *with, const load *of)
{
    load_paths found;
    uint32_t batch = with->batch ? with->batch : PAPERS_BATCH;
    if (!load_measure_paths(of, batch, &found))
        abort();
    printf("{\"load\": \"%s\", \"batch\": %u, \"batches\": %" PRIu64 ", \"transactions\": %" PRIu64
           ", \"operations\": %" PRIu64 ", \"transactions_path\": %" PRIu64 ", \"operations_path\": %" PRIu64 "}\n",
           load_names[of->shape.kind], batch, found.batches, found.transactions, found.operations, found.transactions_path,
           found.operations_path);
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
    if (with->as_json)
        print_paths(with, of);
    for (uint32_t i = 0; i < sizeof EVALUATORS / sizeof *EVALUATORS; i++)
        for (uint32_t threads = 1; threads <= (EVALUATORS[i].scheme ? with->threads : 1); threads *= 2)
            if (with->evaluator < 0 || with->evaluator == (int32_t)i || i == 0)
                measure(with, of, &EVALUATORS[i], threads, &expected);
    load_free(of);
}

static options read_options(int argc, char **argv)
{
    options with = {{.transactions = 40000, .logs = 4, .skew = 0.6, .reads = 0.5, .seed = 1}, 25, 0, 2, 0, 0, -1, -1, false};
    for (int i = 1; i < argc; i += 2) {
        if (!strcmp(argv[i], "--json")) {
            with.as_json = true;
            i--; /* it has no value */
            continue;
        }
        if (i + 1 == argc) {
            fprintf(stderr, "no value of option %s\n", argv[i]);
            exit(1);
        }
        double value = strtod(argv[i + 1], NULL);
        const char *name = argv[i];
        if (!strcmp(name, "--load"))
            with.only = (int32_t)value;
        else if (!strcmp(name, "--rounds"))
            with.rounds = value < MOST_ROUNDS ? (uint32_t)value : MOST_ROUNDS;
        else if (!strcmp(name, "--warm-up"))
            with.warm_up = (uint32_t)value;
        else if (!strcmp(name, "--threads"))
            with.threads = value < MOST_THREADS ? (uint32_t)value : MOST_THREADS;
        else if (!strcmp(name, "--batch"))
            with.batch = (uint32_t)value;
        else if (!strcmp(name, "--partitions"))
            with.partitions = with.shape.partitions = (uint32_t)value;
        else if (!strcmp(name, "--crossing"))
            with.shape.crossing = value;
        else if (!strcmp(name, "--evaluator"))
            with.evaluator = (int32_t)value;
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
        else if (!strcmp(name, "--reads"))
            with.shape.reads = value;
        else if (!strcmp(name, "--length"))
            with.shape.length = (uint32_t)value;
        else if (!strcmp(name, "--gather"))
            with.shape.gather = (uint32_t)value;
        else if (!strcmp(name, "--cost"))
            cost_set((uint32_t)value);
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
    if (!with.as_json)
        printf("%-14s %-16s %7s %10s %10s %10s %10s %10s\n", "load", "evaluator", "threads", "M/s", "best M/s",
               "ns of CPU", "best ns", "aborted");
    for (uint32_t kind = 0; kind < LOADS; kind++)
        if (with.only < 0 || with.only == (int32_t)kind)
            measure_load(&with, kind);
    return 0;
}
