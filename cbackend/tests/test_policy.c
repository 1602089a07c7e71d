/* When threads evaluate, by made-up times: never where work is small or threads gain nothing, always soon where they do,
 * by the scheme that is the fastest, and again serially when the work changes; and how much time that loses against the
 * best of all. */
#include "check.h"
#include "txpolicy.h"
#include "viper/txchoice.h"

typedef struct {
    uint64_t serial_ns, parallel_ns; /* of an instruction; by the best scheme */
    uint64_t instructions;           /* of an evaluation */
    uint32_t best;                   /* scheme; the others take a quarter more by threads */
} work;

typedef struct {
    uint64_t parallel, measured; /* evaluations */
    uint64_t best;               /* by the best scheme */
    uint64_t ns;
} outcome;

/* What threads take for an instruction is more in a batch that is small. */
static uint64_t ns_of(const work *on, bool by_threads, bool is_best)
{
    uint64_t parallel_ns = is_best ? on->parallel_ns : on->parallel_ns * 5 / 4;
    return on->instructions * (by_threads ? parallel_ns : on->serial_ns) + (by_threads ? 10000 : 0);
}

static outcome evaluate(vp_txpolicy *policy, const work *on, uint32_t times)
{
    outcome found = {0};
    for (uint32_t i = 0; i < times; i++) {
        bool by_threads = vp_policy_is_for_threads(policy) && on->instructions >= vp_policy_least(policy);
        bool is_measured = vp_policy_measures(policy);
        bool is_best = vp_policy_scheme(policy) == on->best;
        uint64_t ns = ns_of(on, by_threads, is_best);
        found.parallel += by_threads;
        found.best += by_threads && is_best;
        found.measured += is_measured;
        found.ns += ns;
        if (is_measured)
            vp_policy_note(policy, by_threads, on->instructions, ns);
    }
    return found;
}

static const work CHEAP = {7, 60, 10000, 0}, DEAR = {500, 300, 10000, 0}, FRUITLESS = {500, 600, 10000, 0},
                  SHORT = {500, 300, 20, 0}, TINY = {7, 60, 100, 0};

static void test_small_work_stays_serial(void)
{
    vp_txpolicy policy;
    vp_policy_begin(&policy, 2);
    CHECK_EQUAL(vp_policy_reason(&policy), VP_CHOSEN_UNKNOWN);
    CHECK_EQUAL(evaluate(&policy, &CHEAP, 10000).parallel, 0);
    CHECK_EQUAL(vp_policy_reason(&policy), VP_CHOSEN_CHEAP);
    vp_policy_begin(&policy, 2);
    outcome tiny = evaluate(&policy, &TINY, 16000);
    CHECK_EQUAL(tiny.parallel, 0);
    CHECK(tiny.measured <= 1000 + VP_POLICY_KEPT); /* at 50 ns each, less than half a percent */
    vp_policy_begin(&policy, 2);
    CHECK_EQUAL(evaluate(&policy, &SHORT, 10000).parallel, 0);
    CHECK_EQUAL(vp_policy_reason(&policy), VP_CHOSEN_UNKNOWN);
    vp_policy_begin(&policy, 1);
    CHECK_EQUAL(evaluate(&policy, &DEAR, 10000).parallel, 0);
    CHECK_EQUAL(vp_policy_reason(&policy), VP_CHOSEN_ALONE);
}

static void test_dear_work_goes_over_soon(void)
{
    vp_txpolicy policy;
    vp_policy_begin(&policy, 2);
    CHECK_EQUAL(evaluate(&policy, &DEAR, VP_POLICY_KEPT).parallel, 0);
    CHECK_EQUAL(vp_policy_reason(&policy), VP_CHOSEN_PAYS);
    CHECK(evaluate(&policy, &DEAR, 1000).parallel > 960);
    /* Among large evaluations there may be small ones. */
    CHECK_EQUAL(evaluate(&policy, &SHORT, 100).parallel, 0);
    CHECK(evaluate(&policy, &DEAR, 100).parallel > 90);
}

static void test_work_that_becomes_cheap_comes_back(void)
{
    vp_txpolicy policy;
    vp_policy_begin(&policy, 2);
    evaluate(&policy, &DEAR, 1000);
    CHECK(evaluate(&policy, &CHEAP, 200).parallel <= 140);
    CHECK_EQUAL(vp_policy_reason(&policy), VP_CHOSEN_TRIED);
    CHECK_EQUAL(evaluate(&policy, &CHEAP, 10000).parallel, 0);
    CHECK(evaluate(&policy, &DEAR, 1000).parallel > 800);
}

static void test_the_fastest_scheme_is_used(void)
{
    vp_txpolicy policy;
    vp_policy_begin(&policy, 2);
    for (uint32_t best = 0; best < VP_POLICY_SCHEMES; best++) {
        const work on = {500, 300, 10000, best};
        evaluate(&policy, &on, 3000); /* another one may have been so far */
        CHECK(evaluate(&policy, &on, 10000).best > 9400);
    }
}

static void test_fruitless_tries_become_rare(void)
{
    vp_txpolicy policy;
    vp_policy_begin(&policy, 2);
    outcome first = evaluate(&policy, &FRUITLESS, 1000), later = evaluate(&policy, &FRUITLESS, 100000);
    CHECK(first.parallel > 0);
    CHECK(first.ns < 1000 * ns_of(&FRUITLESS, false, true) * 102 / 100);
    CHECK(later.parallel > 0);
    CHECK(later.ns < 100000 * ns_of(&FRUITLESS, false, true) * 1003 / 1000);
}

/* Where the machine does other things, one time in three is ten times as long; if all that are kept are, threads are tried. */
static void test_disturbed_times_change_little(uint64_t *seed)
{
    vp_txpolicy policy;
    vp_policy_begin(&policy, 2);
    uint32_t parallel = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        bool by_threads = vp_policy_is_for_threads(&policy);
        uint64_t ns = ns_of(&CHEAP, by_threads, true) * (random_below(seed, 3) ? 1 : 10);
        parallel += by_threads;
        if (vp_policy_measures(&policy))
            vp_policy_note(&policy, by_threads, CHEAP.instructions, ns);
    }
    CHECK(parallel < 400);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_policy %llu\n", (unsigned long long)seed);
    fflush(stdout);
    test_small_work_stays_serial();
    test_dear_work_goes_over_soon();
    test_work_that_becomes_cheap_comes_back();
    test_the_fastest_scheme_is_used();
    test_fruitless_tries_become_rare();
    test_disturbed_times_change_little(&seed);
    return 0;
}
