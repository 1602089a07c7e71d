/* All ways in turn, in one run: for each job a line of a table.
 *
 *     bench [--rounds N] [--seconds S] [--workers N] [--claim N] [--slice US] [--room N] [--load SHARE] [--keyed-cost US]
 *           [--waits] [--only NAME] [--check]
 *
 * A line gives medians over the rounds: thousands of inputs a second, where all are there at the start, and microseconds
 * from when an input is there to its output, where they come at a rate. The rate is a share (--load) of what the slowest
 * way of the line makes, the same for all ways. The order of the outputs is always checked. A run takes about --seconds
 * if all workers work all the time. --only runs the lines that have a name in their first column. --check makes the runs
 * short: their figures mean nothing.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ways.h"

enum { MOST_ROUNDS = 99, LEAST_INPUTS = 200, MOST_INPUTS = 4000000 };

typedef struct {
    uint32_t rounds, workers;
    uint64_t claim, room;
    double seconds, slice_us, load, keyed_us;
    bool waits, is_check;
    const char *only; /* NULL: all lines */
} b_options;

typedef struct {
    double rates[MOST_ROUNDS], p50s[MOST_ROUNDS], p99s[MOST_ROUNDS];
} b_figures;

static const job_cost costs[] = {
    {"0", 0, 0}, {"1", 1, 1}, {"10", 10, 10}, {"100", 100, 100}, {"1 to 100", 1, 100},
};
static const struct {
    const char *name;
    double exponent;
} keys[] = {{"Zipf 0", 0}, {"Zipf 0.99", 0.99}, {"Zipf 1.5", 1.5}};

enum { COSTS = sizeof costs / sizeof *costs, KEYS = sizeof keys / sizeof *keys };

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* How many workers can spend costs at the same time. */
static double at_once(b_options options)
{
    return options.waits ? options.workers : fmin(options.workers, (double)sysconf(_SC_NPROCESSORS_ONLN));
}

/* As many inputs as keep the workers busy for so long. */
static uint64_t inputs_of(b_options options, job_cost cost)
{
    double mean_us = cost.least < cost.most ? (cost.most - cost.least) / log(cost.most / cost.least) : cost.most;
    double count = options.seconds * 1e6 * at_once(options) / fmax(mean_us, 0.25);
    return (uint64_t)fmin(fmax(count, LEAST_INPUTS), MOST_INPUTS);
}

static uint32_t count_of(const b_way *const *ways)
{
    uint32_t count = 0;
    while (ways[count])
        count++;
    return count;
}

/* The ways take turns, and take turns at being first. */
static void run_rounds(b_run *plan, const b_way *const *ways, uint32_t rounds, b_figures *figures)
{
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t turn = 0; turn < count_of(ways); turn++) {
            uint32_t which = (round + turn) % count_of(ways);
            plan->way = ways[which];
            run_result found = run_job(plan);
            if (plan->job.rate > 0) {
                figures[which].p50s[round] = found.p50_us;
                figures[which].p99s[round] = found.p99_us;
            } else {
                figures[which].rates[round] = (double)plan->job.inputs / found.seconds;
            }
        }
}

static void print_line(const char *name, double ideal, double rate, b_figures *figures, uint32_t count,
                       uint32_t rounds)
{
    printf("| %s |", name);
    for (uint32_t i = 0; i < count; i++)
        printf(" %.1f |", figures[i].rates[0] / 1e3);
    if (isinf(ideal))
        printf(" |");
    else
        printf(" %.1f |", ideal / 1e3);
    printf(" %.1f |", rate / 1e3);
    for (uint32_t i = 0; i < count; i++)
        printf(" %.0f, %.0f |", median(figures[i].p50s, rounds), median(figures[i].p99s, rounds));
    printf("\n");
    fflush(stdout);
}

static void run_line(b_options options, const char *name, job_cost cost, double zipf, const b_way *const *ways)
{
    static b_figures figures[MOST_WAYS];
    if (options.only && strcmp(options.only, name) != 0)
        return;
    b_run plan = {.job = job_new(inputs_of(options, cost), cost, zipf), .workers = options.workers, .room = options.room};
    plan.job.waits = options.waits;
    plan.claim = (uint64_t)fmin(fmax(options.slice_us / fmax(plan.job.mean_us, 1e-3), 1), (double)options.claim);
    run_rounds(&plan, ways, options.rounds, figures);
    double slowest = HUGE_VAL;
    for (uint32_t i = 0; i < count_of(ways); i++) {
        figures[i].rates[0] = median(figures[i].rates, options.rounds);
        slowest = fmin(slowest, figures[i].rates[0]);
    }
    b_job all = plan.job;
    plan.job.rate = slowest * options.load;
    plan.job.inputs = (uint64_t)fmin(fmax(plan.job.rate * options.seconds, LEAST_INPUTS), (double)all.inputs);
    run_rounds(&plan, ways, options.rounds, figures);
    print_line(name, 1e6 * at_once(options) / all.mean_us, plan.job.rate, figures, count_of(ways), options.rounds);
    job_free(&all);
}

static void print_head(const char *column, const b_way *const *ways)
{
    printf("\n| %s |", column);
    for (uint32_t i = 0; i < count_of(ways); i++)
        printf(" k/s, %s |", ways[i]->name);
    printf(" k/s, ideal | k/s, paced |");
    for (uint32_t i = 0; i < count_of(ways); i++)
        printf(" p50, p99 us, %s |", ways[i]->name);
    printf("\n|---|");
    for (uint32_t i = 0; i < 2 * count_of(ways) + 2; i++)
        printf("--:|");
    printf("\n");
}

static double number(const char *text, double least, double most, bool is_whole)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most) || (is_whole && value != floor(value))) {
        fprintf(stderr, "found %s, expected a %snumber from %g to %g\n", text, is_whole ? "whole " : "", least, most);
        exit(2);
    }
    return value;
}

/* A name that some line has. */
static const char *line_name(const char *text)
{
    for (size_t i = 0; i < COSTS; i++)
        if (strcmp(costs[i].name, text) == 0)
            return text;
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].name, text) == 0)
            return text;
    fprintf(stderr, "found %s, expected the name of a line:", text);
    for (size_t i = 0; i < COSTS; i++)
        fprintf(stderr, " \"%s\"", costs[i].name);
    for (size_t i = 0; i < KEYS; i++)
        fprintf(stderr, " \"%s\"", keys[i].name);
    fprintf(stderr, "\n");
    exit(2);
}

static b_options parse(int count, char **arguments)
{
    static const struct option known[] = {
        {"rounds", required_argument, NULL, 'r'}, {"seconds", required_argument, NULL, 's'},
        {"workers", required_argument, NULL, 'w'}, {"claim", required_argument, NULL, 'c'},
        {"slice", required_argument, NULL, 'S'}, {"room", required_argument, NULL, 'o'},
        {"load", required_argument, NULL, 'l'}, {"keyed-cost", required_argument, NULL, 'k'},
        {"waits", no_argument, NULL, 'W'}, {"only", required_argument, NULL, 'O'}, {"check", no_argument, NULL, 'C'},
        {0},
    };
    b_options made = {.rounds = 5, .claim = 64, .room = 8192, .seconds = 1, .slice_us = 200, .load = 0.7, .keyed_us = 10};
    made.workers = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    for (int found; (found = getopt_long(count, arguments, "", known, NULL)) != -1;)
        switch (found) {
        case 'r': made.rounds = (uint32_t)number(optarg, 1, MOST_ROUNDS, true); break;
        case 's': made.seconds = number(optarg, 1e-3, 60, false); break;
        case 'w': made.workers = (uint32_t)number(optarg, 1, RUN_WORKERS, true); break;
        case 'c': made.claim = (uint64_t)number(optarg, 1, RUN_CLAIM, true); break;
        case 'S': made.slice_us = number(optarg, 1, 1e6, false); break;
        case 'o': made.room = (uint64_t)number(optarg, RUN_CLAIM, 1 << 20, true); break;
        case 'l': made.load = number(optarg, 0.01, 1, false); break;
        case 'k': made.keyed_us = number(optarg, 0, 1e6, false); break;
        case 'W': made.waits = true; break;
        case 'O': made.only = line_name(optarg); break;
        case 'C': made.is_check = true; break;
        default: exit(2);
        }
    if (optind < count || (made.room & (made.room - 1)) != 0) {
        fprintf(stderr, "expected only options, and a power of two as room, found %s and %llu\n",
                optind < count ? arguments[optind] : "none", (unsigned long long)made.room);
        exit(2);
    }
    if (made.is_check) {
        made.rounds = 1;
        made.seconds = 0.01;
    }
    return made;
}

int main(int count, char **arguments)
{
    b_options options = parse(count, arguments);
    job_calibrate();
    printf("%u workers on %ld processors, claims of up to %llu inputs or %g us, room for %llu, runs of %g s, "
           "paced by %g of the slowest, medians of %u rounds%s%s\n",
           options.workers, sysconf(_SC_NPROCESSORS_ONLN), (unsigned long long)options.claim, options.slice_us,
           (unsigned long long)options.room, options.seconds, options.load, options.rounds,
           options.waits ? ", costs are times of waiting" : "", options.is_check ? "; a check, so these are no figures" : "");
    print_head("us an input", stateless_ways);
    for (size_t i = 0; i < COSTS; i++)
        run_line(options, costs[i].name, costs[i], 0, stateless_ways);
    print_head("keys", keyed_ways);
    job_cost keyed = {"keyed", options.keyed_us, options.keyed_us};
    for (size_t i = 0; i < KEYS; i++)
        run_line(options, keys[i].name, keyed, keys[i].exponent, keyed_ways);
}
