/* Both designs in turn, in one run: for every configuration a line of a table.
 *
 *     bench [--tuples N] [--rounds N] [--jumbo N] [--room N] [--workers N] [--sources N] [--readers N] [--check]
 *
 * With --sources and --readers, only those numbers; else 1 to 16, and 1 to 4.
 * A line gives medians over the rounds: nanoseconds of processor time, of all sources and readers
 * together, for each tuple delivered to a reader; and of the wall clock for each tuple of the stream.
 * With --check, the checksum of what each reader got is compared with that of the sorted sequence
 * (which takes time, so that the figures then mean nothing).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"

enum { MOST_ROUNDS = 99, MOST_SOURCES = 32, SUBJECTS = 2 };

typedef struct {
    uint32_t rounds, workers, jumbo, room;
    uint32_t sources, readers; /* 0: a row of numbers */
    uint64_t tuples; /* of all sources together */
    bool is_checked;
} b_options;

static const b_subject *const subjects[SUBJECTS] = {&subject_list, &subject_rings};

typedef struct {
    double cpu[MOST_ROUNDS], wall[MOST_ROUNDS];
    uint64_t runs;
} b_figures;

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Every reader must have got every tuple, and in order where that is checked. */
static bool is_right(crew_plan plan, const crew_result *result)
{
    uint64_t reference = 0;
    if (plan.is_checked)
        reference = load_reference(plan.kind, plan.sources, plan.jumbo, plan.tuples);
    for (uint32_t i = 0; i < plan.readers; i++) {
        const task_result *its = &result->readers[i];
        if (its->tuples == plan.tuples * plan.sources && its->checksum == reference)
            continue;
        fprintf(stderr,
                "%s, %s, %u sources: reader %u got %llu tuples with checksum %llx, expected %llu with %llx\n",
                plan.subject->name, load_names[plan.kind], plan.sources, i, (unsigned long long)its->tuples,
                (unsigned long long)its->checksum, (unsigned long long)(plan.tuples * plan.sources),
                (unsigned long long)reference);
        return false;
    }
    return true;
}

static void measure(crew_plan plan, b_figures *figures, uint32_t round)
{
    crew_result result;
    if (!crew_run(plan, &result)) {
        fprintf(stderr, "no memory, thread or process left for %u sources and %u readers\n", plan.sources,
                plan.readers);
        exit(1);
    }
    if (!is_right(plan, &result))
        exit(1);
    double tuples = (double)(plan.tuples * plan.sources);
    figures->cpu[round] = result.cpu_ns / tuples / plan.readers;
    figures->wall[round] = result.wall_ns / tuples;
    figures->runs = result.readers[0].runs;
}

/* The designs take turns, and take turns at being first. */
static void measure_rounds(crew_plan plan, uint32_t rounds, b_figures *both)
{
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t turn = 0; turn < SUBJECTS; turn++) {
            uint32_t which = (round + turn) % SUBJECTS;
            plan.subject = subjects[which];
            measure(plan, &both[which], round);
        }
}

static void print_line(crew_plan plan, uint32_t rounds, b_figures *both)
{
    double list = median(both[0].cpu, rounds), rings = median(both[1].cpu, rounds);
    double tuples = (double)(plan.tuples * plan.sources);
    const char *workers = plan.processes ? "processes" : "threads";
    printf("| %s | %s | %u | %u | %.1f | %.1f | %.1f | %.2f | %.1f | %.1f |\n", load_names[plan.kind], workers,
           plan.sources, plan.readers, tuples / (double)both[1].runs, list, rings, list / rings,
           median(both[0].wall, rounds), median(both[1].wall, rounds));
    fflush(stdout);
}

static void run_line(b_options options, load_kind kind, bool processes, uint32_t sources, uint32_t readers)
{
    static b_figures both[SUBJECTS];
    crew_plan plan = {
        .kind = kind, .processes = processes, .is_checked = options.is_checked, .sources = sources,
        .readers = readers, .workers = options.workers, .jumbo = options.jumbo, .room = options.room,
        .tuples = options.tuples / sources,
    };
    measure_rounds(plan, options.rounds, both);
    print_line(plan, options.rounds, both);
}

static void print_head(b_options options)
{
    printf("%llu tuples in jumbo tuples of %u, room for %u per source, %u workers, medians of %u rounds%s\n\n",
           (unsigned long long)options.tuples, options.jumbo, options.room, options.workers, options.rounds,
           options.is_checked ? "; checked, so these are no figures" : "");
    printf("| load | workers | sources | readers | tuples/run | cpu ns, skip list | cpu ns, rings | ratio "
           "| wall ns, skip list | wall ns, rings |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
}

static uint64_t number(const char *text, uint64_t most)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text == '-' || end == text || *end || value < 1 || value > most) {
        fprintf(stderr, "found %s, expected a number from 1 to %llu\n", text, (unsigned long long)most);
        exit(2);
    }
    return value;
}

static b_options parse(int count, char **arguments)
{
    static const struct option known[] = {
        {"tuples", required_argument, NULL, 't'}, {"rounds", required_argument, NULL, 'r'},
        {"jumbo", required_argument, NULL, 'j'},  {"room", required_argument, NULL, 'o'},
        {"workers", required_argument, NULL, 'w'}, {"sources", required_argument, NULL, 'S'},
        {"readers", required_argument, NULL, 'R'}, {"check", no_argument, NULL, 'c'},
        {0},
    };
    b_options made = {.rounds = 7, .workers = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), .jumbo = 256, .room = 8192};
    made.tuples = 2000000;
    for (int found; (found = getopt_long(count, arguments, "", known, NULL)) != -1;)
        switch (found) {
        case 't': made.tuples = number(optarg, UINT32_MAX); break;
        case 'r': made.rounds = (uint32_t)number(optarg, MOST_ROUNDS); break;
        case 'j': made.jumbo = (uint32_t)number(optarg, 1 << 16); break;
        case 'o': made.room = (uint32_t)number(optarg, 1 << 20); break;
        case 'w': made.workers = (uint32_t)number(optarg, 16); break;
        case 'S': made.sources = (uint32_t)number(optarg, MOST_SOURCES); break;
        case 'R': made.readers = (uint32_t)number(optarg, CREW_READERS); break;
        case 'c': made.is_checked = true; break;
        default: exit(2);
        }
    if (optind < count || made.jumbo > made.room || made.tuples < MOST_SOURCES) {
        fprintf(stderr, "expected only options, 32 tuples or more, and room for at least one jumbo tuple\n");
        exit(2);
    }
    return made;
}

/* What was asked for, or powers of two up to `most`. */
static bool is_asked(uint32_t candidate, uint32_t asked, uint32_t most)
{
    return asked ? candidate == asked : candidate <= most && (candidate & (candidate - 1)) == 0;
}

static void run_table(b_options options, load_kind kind, bool processes)
{
    for (uint32_t sources = 1; sources <= MOST_SOURCES; sources++)
        for (uint32_t readers = 1; readers <= CREW_READERS; readers++)
            if (is_asked(sources, options.sources, 16) && is_asked(readers, options.readers, 4))
                run_line(options, kind, processes, sources, readers);
}

int main(int count, char **arguments)
{
    b_options options = parse(count, arguments);
    print_head(options);
    for (load_kind kind = 0; kind < LOADS; kind++)
        for (int processes = 0; processes < 2; processes++)
            run_table(options, kind, processes);
}
