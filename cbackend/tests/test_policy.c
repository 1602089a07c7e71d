/* When threads evaluate, by made-up times: never where work is small or threads gain nothing, always soon where they do,
 * and again serially when the work changes; and how much time that loses against the better of both. */
#include "check.h"
#include "txpolicy.h"
#include "viper/txchoice.h"

typedef struct {
    uint64_t serial_ns, parallel_ns; /* of an instruction */
    uint64_t instructions;           /* of an evaluation */
} work;

typedef struct {
    uint64_t parallel, measured; /* evaluations */
    uint64_t ns;
} outcome;

/* What threads take for an instruction is more in a batch that is small. */
static uint64_t ns_of(const work *on, bool by_threads)
{
    return on->instructions * (by_threads ? on->parallel_ns : on->serial_ns) + (by_threads ? 10000 : 0);
}

static outcome evaluate(vp_txpolicy *policy, const work *on, uint32_t times)
{
    outcome found = {0};
    for (uint32_t i = 0; i < times; i++) {
        bool by_threads = vp_policy_is_for_threads(policy) && on->instructions >= vp_policy_least(policy);
        bool is_measured = vp_policy_measures(policy);
        found.parallel += by_threads;
        found.measured += is_measured;
        found.ns += ns_of(on, by_threads);
        if (is_measured)
            vp_policy_note(policy, by_threads, on->instructions, ns_of(on, by_threads));
    }
    return found;
}

static const work CHEAP = {7, 60, 10000}, DEAR = {500, 300, 10000}, FRUITLESS = {500, 600, 10000}, SHORT = {500, 300, 20},
                  TINY = {7, 60, 100};

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
    CHECK(evaluate(&policy, &CHEAP, 100).parallel <= 40);
    CHECK_EQUAL(vp_policy_reason(&policy), VP_CHOSEN_TRIED);
    CHECK_EQUAL(evaluate(&policy, &CHEAP, 10000).parallel, 0);
    CHECK(evaluate(&policy, &DEAR, 1000).parallel > 800);
}

static void test_fruitless_tries_become_rare(void)
{
    vp_txpolicy policy;
    vp_policy_begin(&policy, 2);
    outcome first = evaluate(&policy, &FRUITLESS, 1000), later = evaluate(&policy, &FRUITLESS, 100000);
    CHECK(first.parallel > 0);
    CHECK(first.ns < 1000 * ns_of(&FRUITLESS, false) * 102 / 100);
    CHECK(later.parallel > 0);
    CHECK(later.ns < 100000 * ns_of(&FRUITLESS, false) * 1001 / 1000);
}

/* Where the machine does other things, one time in three is ten times as long. */
static void test_disturbed_times_change_nothing(uint64_t *seed)
{
    vp_txpolicy policy;
    vp_policy_begin(&policy, 2);
    for (uint32_t i = 0; i < 10000; i++) {
        uint64_t ns = CHEAP.instructions * CHEAP.serial_ns * (random_below(seed, 3) ? 1 : 10);
        CHECK(!vp_policy_is_for_threads(&policy));
        if (vp_policy_measures(&policy))
            vp_policy_note(&policy, false, CHEAP.instructions, ns);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_policy %llu\n", (unsigned long long)seed);
    fflush(stdout);
    test_small_work_stays_serial();
    test_dear_work_goes_over_soon();
    test_work_that_becomes_cheap_comes_back();
    test_fruitless_tries_become_rare();
    test_disturbed_times_change_nothing(&seed);
    return 0;
}
