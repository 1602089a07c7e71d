/* All schemes of evaluation give the results, the aborts and the tables of the model, on one to four threads: with rows
 * that all want, transactions of which one has to do with several rows, equal positions, and batches of any length.
 *
 *     test_schemes [seed]       other transactions
 */
#include "tx_check.h"
#include "viper/txschemes.h"

enum { LOG_BYTES = 1 << 17, RUNS = 28, PLANNED = 1000 };

static const uint32_t SCHEMES[] = {
    VP_SCHEME_LOCKS, VP_SCHEME_PARTITION_LOCKS, VP_SCHEME_PARTITIONS_APART, VP_SCHEME_VERSIONS, VP_SCHEME_CHAINS,
};
enum { SCHEME_COUNT = sizeof SCHEMES / sizeof *SCHEMES };

static plan p;
static uint64_t batches, redone;

#ifdef VP_CRASH_POINTS
#include <time.h>

/* Others come first now and then, at places where somebody is about to do what they must wait for: this thread sleeps.
 * If it yielded, another program could take the processor for as long as it may, and each of these places cost its slice. */
static void nap_there(const char *name)
{
    static _Thread_local uint64_t seed;
    if (strncmp(name, "scheme:", 7) == 0 && random_below(&seed, 64) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}
#endif

static uint64_t capacity(uint32_t threads)
{
    return world_size(LOG_BYTES) + vp_txscheme_size(threads);
}

typedef struct {
    uint32_t log, written, checked;
    uint64_t at, checked_at;
} task;

static void check_evaluated(const world *w, task *of)
{
    vp_txlog *log = w->logs[of->log];
    while (of->checked_at < vp_txlog_evaluated(log)) {
        vp_tx *tx = vp_txlog_tx(log, &of->checked_at);
        check_result(tx, planned_at(&p, of->log, of->checked++));
        of->checked_at += tx->size;
    }
    vp_txlog_release(log, of->checked_at);
}

static void write_some(const world *w, task *of, uint32_t count)
{
    while (count-- && of->written < p.counts[of->log] &&
           write_planned(w->logs[of->log], &of->at, planned_at(&p, of->log, of->written)))
        of->written++;
    vp_txlog_publish(w->logs[of->log], of->at);
    bool is_all = of->written == p.counts[of->log];
    vp_txlog_collected(w->logs[of->log], is_all ? VP_END : planned_at(&p, of->log, of->written)->position);
}

static void evaluate(const world *w, vp_txscheme *scheme)
{
    int32_t me = 0, who = -1;
    for (int told; (told = vp_txscheme_evaluate(scheme, 1, me, &who)) != VP_TX_NOTHING;) {
        CHECK(told != VP_TX_NO_MEMORY);
        if (told == VP_TX_WAITS_ALONE && who == me)
            run_alone(w);
        me = told == VP_TX_WAITS_ALONE ? who : me;
    }
}

static void test_run(uint64_t *seed, uint32_t kind, uint32_t threads)
{
    model on;
    vp_arena *arena = vp_arena_new(capacity(threads));
    CHECK(arena);
    uint32_t logs = 1 + random_below(seed, 4);
    world w = make_world(arena, &on, logs, LOG_BYTES);
    uint64_t at = region(arena, vp_txscheme_size(threads));
    vp_txscheme *scheme = vp_txscheme_new(w.group, at, kind, threads, random_below(seed, 2) ? 0 : 1 + random_below(seed, 300),
                                          1 + random_below(seed, 6));
    CHECK(scheme);
    is_tame = random_below(seed, 3);
    random_plan(&p, seed, logs, PLANNED, random_below(seed, 2) * 100);
    plan_results(&p, &w, &on, NULL);
    task tasks[MOST_LOGS] = {{0}};
    uint32_t slice = 1 + random_below(seed, 400);
    while (vp_compare(vp_txgroup_evaluated(w.group), VP_END) != 0) {
        for (uint32_t i = 0; i < logs; i++) {
            tasks[i].log = i;
            write_some(&w, &tasks[i], random_below(seed, slice));
        }
        evaluate(&w, scheme);
        for (uint32_t i = 0; i < logs; i++)
            check_evaluated(&w, &tasks[i]);
    }
    check_tables(&w, &on);
    vp_txcounts counts;
    vp_txgroup_counts(w.group, &counts);
    uint64_t aborted = 0;
    for (uint32_t i = 0; i < p.count; i++)
        aborted += p.all[i].expected.status != VP_TX_DONE;
    CHECK_EQUAL(counts.transactions, p.count);
    CHECK_EQUAL(counts.aborted, aborted);
    batches += vp_txscheme_batches(scheme);
    redone += vp_txscheme_redone(scheme);
    vp_txscheme_free(scheme);
    vp_arena_free(arena, capacity(threads));
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_schemes %llu\n", (unsigned long long)seed);
    fflush(stdout);
#ifdef VP_CRASH_POINTS
    at_point = nap_there;
#endif
    CHECK_EQUAL(vp_txscheme_size(0), 0);
    CHECK_EQUAL(vp_txscheme_size(VP_SCHEME_THREADS + 1), 0);
    for (uint32_t i = 0; i < SCHEME_COUNT; i++) {
        batches = redone = 0;
        for (uint32_t run = 0; run < RUNS; run++)
            test_run(&seed, SCHEMES[i], 1 + run % 4);
        CHECK((redone > 0) == (SCHEMES[i] == VP_SCHEME_CHAINS));
        CHECK(redone < batches / 2); /* else it is the serial evaluator that is tested */
    }
    return 0;
}
