/* Whatever evaluators the processes of a run have chosen, and whenever the measuring one goes over to threads and back, the
 * results, the aborts and the tables are those of the model. Clocks are made up, so that it goes over at random.
 *
 *     test_choice [seed]       other transactions, and other times
 */
#include <time.h>

#include "tx_check.h"
#include "viper/txchoice.h"

enum { LOG_BYTES = 1 << 17, PLANNED = 3000, PROCESSES = 2, RUNS = 12, MOST_RUNS = 1000, MOST_THREADS = 3 };

static const uint32_t EVALUATORS[] = {
    VP_CHOICE_SERIAL, VP_CHOICE_AUTO, VP_SCHEME_CHAINS, VP_SCHEME_LOCKS, VP_SCHEME_VERSIONS, VP_SCHEME_PARTITION_LOCKS,
    VP_SCHEME_PARTITIONS_APART,
};
enum { EVALUATOR_COUNT = sizeof EVALUATORS / sizeof *EVALUATORS };

static plan p;
static uint64_t clock_seed = 1, clock_ns, went_over, went_back;

int __wrap_clock_gettime(clockid_t id, struct timespec *time);

/* An evaluation seems to take no time, or a long one. */
int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    clock_ns += random_below(&clock_seed, 32) ? random_below(&clock_seed, 1 << 24) : 0;
    *time = (struct timespec){(time_t)(clock_ns / 1000000000), (long)(clock_ns % 1000000000)};
    return 0;
}

static uint64_t capacity(void)
{
    return world_size(LOG_BYTES) + PROCESSES * (vp_txchoice_size(MOST_THREADS) + VP_LINE);
}

/* One that evaluates; each of them has some of the logs. */
typedef struct {
    vp_txchoice *choice;
    uint64_t region;
    uint32_t evaluator, threads;
} process;

typedef struct {
    uint32_t written, checked;
    uint64_t at, checked_at;
} task;

static void write_some(const world *w, task *of, uint32_t log, uint32_t count)
{
    while (count-- && of->written < p.counts[log] && write_planned(w->logs[log], &of->at, planned_at(&p, log, of->written)))
        of->written++;
    vp_txlog_publish(w->logs[log], of->at);
    bool is_all = of->written == p.counts[log];
    vp_txlog_collected(w->logs[log], is_all ? VP_END : planned_at(&p, log, of->written)->position);
}

static void check_evaluated(const world *w, task *of, uint32_t log)
{
    while (of->checked_at < vp_txlog_evaluated(w->logs[log])) {
        vp_tx *tx = vp_txlog_tx(w->logs[log], &of->checked_at);
        check_result(tx, planned_at(&p, log, of->checked++));
        of->checked_at += tx->size;
    }
    vp_txlog_release(w->logs[log], of->checked_at);
}

static void evaluate(const world *w, const process *all, uint32_t log)
{
    int32_t me = (int32_t)log, who = -1;
    for (int told; (told = vp_txchoice_evaluate(all[me % PROCESSES].choice, 1 + (uint32_t)me % PROCESSES, me, &who)) != VP_TX_NOTHING;) {
        CHECK(told != VP_TX_NO_MEMORY);
        if (told == VP_TX_WAITS_ALONE && who == me)
            run_alone(w);
        me = told == VP_TX_WAITS_ALONE ? who : me;
    }
}

static void make_processes(process *all, const world *w, uint64_t *seed)
{
    for (uint32_t i = 0; i < PROCESSES; i++) {
        process *of = &all[i];
        of->evaluator = EVALUATORS[random_below(seed, 2) ? 1 : random_below(seed, EVALUATOR_COUNT)];
        of->threads = 1 + random_below(seed, MOST_THREADS);
        of->region = region(w->arena, vp_txchoice_size(MOST_THREADS));
        CHECK((of->choice = vp_txchoice_new(w->group, of->region, of->evaluator, of->threads)));
    }
}

/* Whoever asks for a scheme has it whenever there are threads for it. */
static void check_chosen(const world *w, const process *of)
{
    vp_txchosen chosen;
    vp_txchoice_chosen(w->group, of->region, &chosen);
    bool may_choose = of->evaluator == VP_CHOICE_AUTO && of->threads > 1;
    if (!may_choose) {
        CHECK_EQUAL(of->threads > 1 && of->evaluator != VP_CHOICE_SERIAL ? chosen.serial : chosen.parallel, 0);
        CHECK_EQUAL(chosen.reason, of->threads > 1 || of->evaluator == VP_CHOICE_SERIAL ? VP_CHOSEN_ASKED : VP_CHOSEN_ALONE);
        return;
    }
    went_over += chosen.parallel > 0;
    went_back += chosen.reason == VP_CHOSEN_TRIED;
}

static void test_run(uint64_t *seed, uint32_t run)
{
    model on;
    vp_arena *arena = vp_arena_new(capacity());
    CHECK(arena);
    uint32_t logs = PROCESSES + random_below(seed, 3);
    world w = make_world(arena, &on, logs, LOG_BYTES);
    process processes[PROCESSES];
    make_processes(processes, &w, seed);
    is_tame = random_below(seed, 3);
    random_plan(&p, seed, logs, PLANNED, random_below(seed, 2) * 100);
    plan_results(&p, &w, &on, NULL);
    task tasks[MOST_LOGS] = {{0}};
    uint32_t slice = 10 + random_below(seed, run % 2 ? 4 : 60);
    uint32_t until_end = 1 + random_below(seed, 40); /* evaluation goes on behind the end of a process's threads */
    while (vp_compare(vp_txgroup_evaluated(w.group), VP_END) != 0) {
        for (uint32_t log = 0; log < logs; log++)
            write_some(&w, &tasks[log], log, random_below(seed, slice));
        evaluate(&w, processes, random_below(seed, logs));
        for (uint32_t log = 0; log < logs; log++)
            check_evaluated(&w, &tasks[log], log);
        if (--until_end == 0)
            vp_txchoice_end(processes[0].choice);
    }
    check_tables(&w, &on);
    vp_txcounts counts;
    vp_txgroup_counts(w.group, &counts);
    CHECK_EQUAL(counts.transactions, p.count);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        if (i > 0)
            check_chosen(&w, &processes[i]);
        vp_txchoice_free(processes[i].choice);
    }
    vp_arena_free(arena, capacity());
}

static void test_numbers_that_are_none(void)
{
    model on;
    vp_arena *arena = vp_arena_new(capacity());
    world w = make_world(arena, &on, 2, LOG_BYTES);
    uint64_t at = region(arena, vp_txchoice_size(MOST_THREADS));
    CHECK(!vp_txchoice_new(w.group, at, VP_SCHEME_NO_LOCKS, 2));
    CHECK(!vp_txchoice_new(w.group, at, VP_SCHEME_PARTITIONS_APART + 1, 2));
    CHECK(!vp_txchoice_new(w.group, at, VP_CHOICE_AUTO, 0));
    CHECK(!vp_txchoice_new(w.group, at, VP_CHOICE_AUTO, VP_SCHEME_THREADS + 1));
    CHECK_EQUAL(vp_txchoice_size(0), 0);
    vp_arena_free(arena, capacity());
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_choice %llu\n", (unsigned long long)seed);
    fflush(stdout);
    clock_seed = seed;
    test_numbers_that_are_none();
    for (uint32_t run = 0; run < RUNS || (run < MOST_RUNS && !(went_over && went_back)); run++)
        test_run(&seed, run);
    CHECK(went_over && went_back);
    return 0;
}
