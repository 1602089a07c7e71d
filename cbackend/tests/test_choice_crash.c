/* Two processes evaluate the same logs, each by an evaluator and in a region of its own. One after the other is killed at
 * every named point, and buried while the other one goes on, and a successor takes its place. In the end all results and
 * tables are those of all transactions one after the other, and each was counted once.
 *
 *     test_choice_crash [seed]       other transactions, evaluators and deaths
 */
#include <sched.h>

#include "dying.h"
#include "tx_check.h"
#include "viper/txchoice.h"

enum { PROCESSES = 2, LOGS = 4, LOG_BYTES = 1 << 18, PLANNED = 400, THREADS = 2, MOST_TRIES = 60 };

static const char *const POINTS[] = {
    "undo: noted", "undo: written", "undo: back", "lease: looked for", "lease: held still", "lease: given",
    "evaluated: not yet", "evaluated: done", "evaluated: log told", "evaluated: all told", "evaluate: frontier",
    "evaluate: begun", "evaluate: between", "evaluate: alone", "log: published", "log: collected",
    "scheme: noted", "scheme: run", "scheme: granted", "scheme: done",
};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS, FIRST_OF_SCHEMES = POINT_COUNT - 4 };
static const uint32_t EVALUATORS[] = {
    VP_SCHEME_LOCKS, VP_SCHEME_VERSIONS, VP_SCHEME_PARTITION_LOCKS, VP_SCHEME_PARTITIONS_APART, VP_SCHEME_CHAINS,
    VP_CHOICE_AUTO, VP_CHOICE_SERIAL,
};
enum { EVALUATOR_COUNT = sizeof EVALUATORS / sizeof *EVALUATORS, GRANTING = 4 };

static plan p;
static model on;
static world w;
static uint64_t regions[PROCESSES];
static uint32_t evaluators[PROCESSES];

static uint64_t capacity(void)
{
    return world_size(LOG_BYTES) + PROCESSES * (vp_txchoice_size(THREADS) + VP_LINE);
}

/* -- a process: half of the logs are its own */

/* How many transactions a log has, which are all that were ever written. */
static uint32_t count_written(uint32_t log)
{
    uint32_t count = 0;
    for (uint64_t at = 0; at < vp_txlog_tail(w.logs[log]); count++)
        at += vp_txlog_tx(w.logs[log], &at)->size;
    return count;
}

static void write_some(uint32_t log, uint32_t count)
{
    uint64_t at = vp_txlog_tail(w.logs[log]);
    uint32_t index = count_written(log);
    for (; count > 0 && index < p.counts[log]; count--)
        CHECK(write_planned(w.logs[log], &at, planned_at(&p, log, index++)));
    vp_txlog_publish(w.logs[log], at);
    vp_txlog_collected(w.logs[log], index < p.counts[log] ? planned_at(&p, log, index)->position : VP_END);
}

static void evaluate(vp_txchoice *choice, uint32_t process, uint32_t log)
{
    int32_t who = -1;
    for (int told; (told = vp_txchoice_evaluate(choice, 1 + process, (int32_t)log, &who)) != VP_TX_NOTHING;) {
        CHECK(told != VP_TX_NO_MEMORY);
        if (told == VP_TX_WAITS_ALONE && who != (int32_t)log)
            return;
        if (told == VP_TX_WAITS_ALONE)
            run_alone(&w);
    }
}

static void live(uint32_t process, uint64_t seed)
{
    vp_txchoice *choice = vp_txchoice_new(w.group, regions[process], evaluators[process], THREADS);
    CHECK(choice);
    while (vp_compare(vp_txgroup_evaluated(w.group), VP_END) != 0) {
        for (uint32_t log = process; log < LOGS; log += PROCESSES) {
            write_some(log, random_below(&seed, 40));
            evaluate(choice, process, log);
        }
        sched_yield();
    }
}

static pid_t begin(uint32_t process, uint64_t seed, const char *point, uint64_t passes)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        die_at(point, passes);
        live(process, seed);
        _exit(0);
    }
    return child;
}

/* Whether it was killed. */
/* -- runs */

static void begin_again(uint64_t *seed)
{
    if (w.arena)
        vp_arena_free(w.arena, capacity());
    vp_arena *arena = shared_arena(capacity());
    w = make_world(arena, &on, LOGS, LOG_BYTES);
    for (uint32_t i = 0; i < PROCESSES; i++)
        regions[i] = region(arena, vp_txchoice_size(THREADS));
    is_tame = random_below(seed, 2);
    random_plan(&p, seed, LOGS, PLANNED, 40);
    plan_results(&p, &w, &on, NULL);
}

static void check_all(void)
{
    CHECK_EQUAL(atomic_load(&w.group->holder), 0);
    for (uint32_t log = 0; log < LOGS; log++) {
        uint32_t index = 0;
        for (uint64_t at = 0; at < vp_txlog_evaluated(w.logs[log]);) {
            vp_tx *tx = vp_txlog_tx(w.logs[log], &at);
            check_result(tx, planned_at(&p, log, index++));
            at += tx->size;
        }
        CHECK_EQUAL(index, p.counts[log]);
    }
    check_tables(&w, &on);
    vp_txcounts found;
    vp_txgroup_counts(w.group, &found);
    CHECK_EQUAL(found.transactions, p.count);
    CHECK_EQUAL(found.late, 0);
}

/* Whether the process with that number was killed at the point. */
static bool run_and_kill(uint64_t *seed, uint32_t fatal, const char *point, uint64_t passes)
{
    begin_again(seed);
    bool is_of_schemes = strncmp(point, "scheme:", 7) == 0;
    for (uint32_t i = 0; i < PROCESSES; i++)
        evaluators[i] = EVALUATORS[random_below(seed, is_of_schemes ? GRANTING : EVALUATOR_COUNT)];
    pid_t children[PROCESSES];
    for (uint32_t i = 0; i < PROCESSES; i++)
        children[i] = begin(i, *seed + i, i == fatal ? point : "none", passes);
    bool was_killed = has_died(children[fatal]);
    if (was_killed) {
        vp_txgroup_bury(w.group, 1 + fatal);
        CHECK(!has_died(begin(fatal, *seed, "none", 0)));
    }
    CHECK(!has_died(children[1 - fatal]));
    check_all();
    return was_killed;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_choice_crash %llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (uint32_t point = 0; point < POINT_COUNT; point++)
        for (uint32_t fatal = 0; fatal < PROCESSES; fatal++) {
            uint32_t tries = 0;
            while (!run_and_kill(&seed, fatal, POINTS[point], random_below(&seed, 4)))
                CHECK(++tries < MOST_TRIES);
        }
    return 0;
}
