/* Processes that tell and evaluate transactions are killed at every named point, and so are those who bury them. Behind
 * each burial the tables are as after as many transactions as logs say, in the order of all; no log ever says less than
 * it has said; and each transaction is counted once.
 *
 *     test_evaluate_crash [seed]       other transactions, and another sequence of deaths
 */
#include "dying.h"
#include "tx_check.h"
#include "viper/txschemes.h"

enum { LOGS = 3, LOG_BYTES = 1 << 14, PLANNED = 700, HOLDER = 7, RANDOM_DEATHS = 300 };

static const char *const POINTS[] = {
    "undo: noted", "undo: counted", "undo: written", "undo: back", "lease: looked for", "lease: held still",
    "lease: given", "evaluated: not yet", "evaluated: done", "evaluated: log told", "evaluated: all told", "evaluate: frontier",
    "evaluate: begun", "evaluate: between", "evaluate: alone", "log: published", "log: collected", "twice: once", "progress: odd",
    "progress: torn", "progress: even", "scheme: noted", "scheme: run", "scheme: granted", "scheme: done",
    "bury: undone", "bury: told",
};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS, FIRST_OF_BURIAL = POINT_COUNT - 2, FIRST_OF_SCHEMES = POINT_COUNT - 6 };
static const uint32_t SCHEMES[] = {
    VP_SCHEME_CHAINS, VP_SCHEME_LOCKS, VP_SCHEME_VERSIONS, VP_SCHEME_PARTITION_LOCKS, VP_SCHEME_PARTITIONS_APART,
};
enum { SCHEME_COUNT = sizeof SCHEMES / sizeof *SCHEMES, THREADS = 2, BATCH = 100, PARTITIONS = 3 };

static plan p;
static model moments[PLANNED + 1];
static world w;
static uint64_t region_of_scheme;
static uint32_t kind; /* of a scheme; 0: the serial evaluator */
static vp_txscheme *scheme;

/* -- what is evaluated of a log */

/* Where each transaction of a log will end. */
static void note_ends(void)
{
    for (uint32_t log = 0; log < LOGS; log++) {
        uint64_t at = 0;
        for (uint32_t i = 0; i < p.counts[log]; i++) {
            planned *of = planned_at(&p, log, i);
            uint64_t to_end = LOG_BYTES - at % LOG_BYTES;
            of->end = at += bytes_of(of) + (bytes_of(of) > to_end ? to_end : 0);
        }
    }
}

/* How many of a log end at a byte counter, which must be the end of one. */
static uint32_t index_at(uint32_t log, uint64_t end)
{
    if (end == 0)
        return 0;
    for (uint32_t i = 0; i < p.counts[log]; i++)
        if (planned_at(&p, log, i)->end == end)
            return i + 1;
    CHECK(false);
    return 0;
}

static void check_results(uint32_t log)
{
    uint64_t at = vp_txlog_head(w.logs[log]);
    uint32_t index = index_at(log, at);
    while (at < vp_txlog_evaluated(w.logs[log])) {
        vp_tx *tx = vp_txlog_tx(w.logs[log], &at);
        check_result(tx, planned_at(&p, log, index++));
        at += tx->size;
    }
}

/* -- the process that does it all, from wherever the one before came to */

static bool write_some(uint32_t log, uint64_t *seed)
{
    uint64_t at = vp_txlog_tail(w.logs[log]);
    uint32_t index = index_at(log, at), count = random_below(seed, 60);
    while (count-- && index < p.counts[log] && write_planned(w.logs[log], &at, planned_at(&p, log, index)))
        CHECK_EQUAL(planned_at(&p, log, index++)->end, at);
    vp_txlog_publish(w.logs[log], at);
    vp_txlog_collected(w.logs[log], index < p.counts[log] ? planned_at(&p, log, index)->position : VP_END);
    return index < p.counts[log];
}

static void evaluate(uint32_t log)
{
    int32_t me = (int32_t)log, who = -1;
    for (int told;;) {
        told = scheme ? vp_txscheme_evaluate(scheme, HOLDER, me, &who) : vp_txgroup_evaluate(w.group, HOLDER, me, &who);
        if (told == VP_TX_NOTHING)
            return;
        CHECK(told != VP_TX_NO_MEMORY);
        if (told == VP_TX_WAITS_ALONE && who == me)
            run_alone(&w);
        me = told == VP_TX_WAITS_ALONE ? who : me;
    }
}

static void go_on(uint64_t seed)
{
    if (kind)
        CHECK((scheme = vp_txscheme_new(w.group, region_of_scheme, kind, THREADS, BATCH, PARTITIONS)));
    for (bool is_more = true; is_more || vp_compare(vp_txgroup_evaluated(w.group), VP_END) != 0;) {
        is_more = false;
        for (uint32_t log = 0; log < LOGS; log++) {
            is_more |= write_some(log, &seed);
            if (random_below(&seed, 2))
                for (uint32_t i = 0; i < LOGS; i++)
                    evaluate(i); /* it may be anybody's turn */
            check_results(log);
            vp_txlog_release(w.logs[log], vp_txlog_evaluated(w.logs[log]));
        }
    }
}

static bool dies(void (*does)(uint64_t), uint64_t seed, const char *point, uint64_t passes)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        die_at(point, passes);
        does(seed);
        _exit(0);
    }
    return has_died(child);
}

/* -- burials */

static void bury(uint64_t unused)
{
    (void)unused;
    vp_txgroup_bury(w.group, HOLDER);
}

/* As many of each log as there are among the first ones of all. */
static void check_all(void)
{
    uint32_t counts[LOGS] = {0}, evaluated = 0;
    for (uint32_t log = 0; log < LOGS; log++) {
        evaluated += index_at(log, vp_txlog_evaluated(w.logs[log]));
        check_results(log);
    }
    for (uint32_t i = 0; i < evaluated; i++)
        counts[p.all[i].log]++;
    for (uint32_t log = 0; log < LOGS; log++)
        CHECK_EQUAL(index_at(log, vp_txlog_evaluated(w.logs[log])), counts[log]);
    check_tables(&w, &moments[evaluated]);
    vp_position reached = vp_txgroup_evaluated(w.group);
    CHECK(evaluated == p.count || vp_compare(p.all[evaluated].position, reached) >= 0);
    vp_txcounts found;
    vp_txgroup_counts(w.group, &found);
    CHECK_EQUAL(found.transactions, evaluated);
    CHECK_EQUAL(found.late, 0);
}

/* How many buriers died at a point, or at any behind that. */
static uint32_t bury_and_check(uint64_t *seed, const char *point)
{
    uint64_t told[LOGS];
    uint32_t deaths = 0;
    vp_position reached = vp_txgroup_evaluated(w.group);
    for (uint32_t log = 0; log < LOGS; log++)
        told[log] = vp_txlog_evaluated(w.logs[log]);
    bool is_held = atomic_load(&w.group->holder) != 0;
    CHECK(!vp_txgroup_bury(w.group, HOLDER + 1));
    for (; point && dies(bury, 0, point, deaths ? random_below(seed, 3) : 0); deaths++)
        point = random_below(seed, 2) ? POINTS[random_below(seed, POINT_COUNT)] : NULL;
    if (is_held)
        vp_txgroup_bury(w.group, HOLDER);
    CHECK(!vp_txgroup_bury(w.group, HOLDER));
    CHECK_EQUAL(atomic_load(&w.group->holder), 0);
    CHECK_EQUAL(atomic_load(&w.group->undo_length), 0);
    for (uint32_t log = 0; log < LOGS; log++)
        CHECK(vp_txlog_evaluated(w.logs[log]) >= told[log]);
    CHECK(vp_compare(vp_txgroup_evaluated(w.group), reached) >= 0);
    check_all();
    return deaths;
}

static void begin_again(uint64_t *seed)
{
    uint64_t capacity = world_size(LOG_BYTES) + vp_txscheme_size(THREADS);
    if (w.arena)
        vp_arena_free(w.arena, capacity);
    vp_arena *arena = shared_arena(capacity);
    model on;
    w = make_world(arena, &on, LOGS, LOG_BYTES);
    region_of_scheme = region(arena, vp_txscheme_size(THREADS));
    is_tame = random_below(seed, 2);
    random_plan(&p, seed, LOGS, PLANNED, 30);
    plan_results(&p, &w, &on, moments);
    note_ends();
}

static void test_every_point(uint64_t *seed)
{
    static const uint64_t passes[] = {0, 1, 7, 60};
    for (uint32_t point = 0; point < POINT_COUNT; point++) {
        uint32_t deaths = 0;
        for (uint32_t i = 0; i < sizeof passes / sizeof *passes; i++) {
            begin_again(seed);
            kind = point >= FIRST_OF_SCHEMES && point < FIRST_OF_BURIAL ? SCHEMES[1 + i % (SCHEME_COUNT - 1)] : 0;
            bool is_of_burial = point >= FIRST_OF_BURIAL;
            bool died = dies(go_on, *seed, is_of_burial ? "undo: written" : POINTS[point], passes[i]);
            uint32_t more = bury_and_check(seed, i % 2 || is_of_burial ? POINTS[point] : NULL);
            deaths += is_of_burial ? more : died;
            CHECK(!dies(go_on, *seed, "none", 0));
            check_all();
            CHECK(vp_compare(vp_txgroup_evaluated(w.group), VP_END) == 0);
        }
        CHECK(deaths);
    }
}

static void test_random_deaths(uint64_t *seed)
{
    begin_again(seed);
    for (uint32_t deaths = 0; deaths < RANDOM_DEATHS;) {
        const char *point = POINTS[random_below(seed, FIRST_OF_BURIAL)];
        kind = random_below(seed, 3) ? SCHEMES[random_below(seed, SCHEME_COUNT)] : 0;
        if (dies(go_on, *seed, point, random_below(seed, 8) ? random_below(seed, 200) : 0))
            deaths++;
        bury_and_check(seed, random_below(seed, 3) ? NULL : POINTS[random_below(seed, POINT_COUNT)]);
        if (vp_compare(vp_txgroup_evaluated(w.group), VP_END) == 0)
            begin_again(seed);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_evaluate_crash %llu\n", (unsigned long long)seed);
    fflush(stdout);
    test_every_point(&seed);
    test_random_deaths(&seed);
    return 0;
}
