#include "txpolicy.h"

#include "viper/txchoice.h"

/* The least that threads cost beside the work: ps for each instruction, all threads together, and to wake them up and to
 * meet at barriers, for each batch. By the cheapest scheme, instructions of Grep and Sums take 30 ns more on two threads,
 * and those of ledger transactions 45; and batches of 500 some 10 to 40 us. So threads are tried from some 50 ns an
 * instruction on: with 50 ns for each operation on a table, they take 0.8 times (Grep and Sum) and 1.1 times (ledger) what
 * one takes, with 100 ns 0.7 and 0.88 times, and with 500 ns 0.6 times. */
static const uint64_t ADDED_PS = 35000, MEETING_PS = 10000000;

/* An evaluation of fewer instructions tells nothing: two looks at the clock take 50 ns. One in sixteen is measured, so
 * that these are 3 ns of each; of long ones all are, and the first few. */
enum { USEFUL = 64, LONG = 4096, MEASURED_EACH = 16 };

/* Schemes are tried for some evaluations each, twice: threads that have been asleep are slower at first (the first five batches
 * of Grep and Sums took 1.15 times what later ones did), and partitions apart are the faster the longer each thread has had
 * its own. What this loses where threads gain nothing is little of the measured evaluations before the next trial, and of
 * twice as many each time. */
enum { TRIED = 4, FIRST_SERIAL = 8, LAST_SERIAL = 128, TRIAL_EACH = 2048, FIRST_PAUSE = 512, LONGEST_PAUSE = 8192, HAS_LASTED = 512 };

static void add(vp_txtimes *times, uint64_t ps)
{
    times->last[times->next] = ps;
    times->next = (times->next + 1) % VP_POLICY_KEPT;
    times->count += times->count < VP_POLICY_KEPT;
}

uint64_t vp_times_least(const vp_txtimes *times)
{
    uint64_t least = 0;
    for (uint32_t i = 0; i < times->count; i++)
        if (i == 0 || times->last[i] < least)
            least = times->last[i];
    return least;
}

/* The median, and the lower one of two. Times by threads have a long tail to both sides: by the least of them, locks of rows
 * were taken for faster than those of partitions, whose evaluations took a tenth less. */
static uint64_t median_of(vp_txtimes times)
{
    for (uint32_t i = 1; i < times.count; i++)
        for (uint32_t at = i; at > 0 && times.last[at] < times.last[at - 1]; at--) {
            uint64_t later = times.last[at];
            times.last[at] = times.last[at - 1];
            times.last[at - 1] = later;
        }
    return times.last[(times.count - 1) / 2];
}

static bool is_full(const vp_txtimes *times)
{
    return times->count == VP_POLICY_KEPT;
}

void vp_policy_begin(vp_txpolicy *policy, uint32_t threads)
{
    *policy = (vp_txpolicy){.threads = threads, .pause = FIRST_PAUSE};
}

static uint64_t shared_ps(const vp_txpolicy *policy, uint64_t serial_ps)
{
    return (serial_ps + ADDED_PS) / policy->threads;
}

static bool is_expected_to_pay(const vp_txpolicy *policy)
{
    uint64_t serial_ps = vp_times_least(&policy->serial);
    if (policy->threads < 2 || !is_full(&policy->serial))
        return false;
    return (shared_ps(policy, serial_ps) + MEETING_PS / policy->size) * 11 / 10 < serial_ps;
}

/* A batch pays where what threads save is twice the least that it costs them to meet. */
uint64_t vp_policy_least(const vp_txpolicy *policy)
{
    uint64_t serial_ps = vp_times_least(&policy->serial), each_ps = shared_ps(policy, serial_ps);
    return serial_ps > each_ps ? 2 * MEETING_PS / (serial_ps - each_ps) : UINT64_MAX;
}

bool vp_policy_is_for_threads(const vp_txpolicy *policy)
{
    return policy->is_parallel && policy->until_serial > 0;
}

uint32_t vp_policy_scheme(const vp_txpolicy *policy)
{
    return policy->scheme;
}

bool vp_policy_measures(vp_txpolicy *policy)
{
    if (policy->is_parallel || policy->unmeasured == 0)
        return true;
    policy->unmeasured--;
    return false;
}

/* The next scheme of a trial has its turn. */
static void begin_turn(vp_txpolicy *policy)
{
    policy->scheme = (policy->until_tried - 1) / TRIED % VP_POLICY_SCHEMES;
    policy->parallel[policy->scheme] = (vp_txtimes){0};
}

static void begin_trial(vp_txpolicy *policy)
{
    policy->until_trial = TRIAL_EACH;
    policy->until_tried = 2 * VP_POLICY_SCHEMES * TRIED;
    policy->until_serial = 1;
    begin_turn(policy);
}

static void go_parallel(vp_txpolicy *policy)
{
    policy->is_parallel = true;
    policy->serial_pause = FIRST_SERIAL;
    policy->lasted = 0;
    begin_trial(policy);
}

static void go_back(vp_txpolicy *policy)
{
    policy->is_parallel = false;
    policy->has_tried = true;
    policy->serial = (vp_txtimes){0};
    policy->pause = policy->lasted >= HAS_LASTED ? FIRST_PAUSE : policy->pause;
    policy->until_try = policy->pause;
    policy->pause = policy->pause < LONGEST_PAUSE ? 2 * policy->pause : LONGEST_PAUSE;
}

static uint32_t fastest(const vp_txpolicy *policy)
{
    uint32_t found = 0;
    for (uint32_t scheme = 1; scheme < VP_POLICY_SCHEMES; scheme++)
        if (median_of(policy->parallel[scheme]) < median_of(policy->parallel[found]))
            found = scheme;
    return found;
}

/* Whether threads gain less than a twentieth. */
static bool is_lost(const vp_txpolicy *policy, uint64_t serial_ps)
{
    return policy->until_tried == 0 && vp_times_least(&policy->parallel[policy->scheme]) * 21 / 20 >= serial_ps;
}

/* Behind a trial, one evaluation is serial, as the work may be another by now. */
static void go_on_with_trial(vp_txpolicy *policy)
{
    policy->until_tried--;
    policy->until_serial = policy->until_tried > 0;
    if (policy->until_tried == 0)
        policy->scheme = fastest(policy);
    else if (policy->until_tried % TRIED == 0)
        begin_turn(policy);
}

static void behind_threads(vp_txpolicy *policy)
{
    policy->lasted++;
    policy->until_serial--;
    if (policy->until_tried > 0)
        go_on_with_trial(policy);
    else if (--policy->until_trial == 0)
        begin_trial(policy);
    if (is_lost(policy, vp_times_least(&policy->serial)))
        policy->until_serial = 0; /* it may be the work that is dearer now */
}

static void behind_one(vp_txpolicy *policy, uint64_t ps)
{
    policy->until_serial = policy->serial_pause;
    policy->serial_pause = policy->serial_pause < LAST_SERIAL ? 2 * policy->serial_pause : LAST_SERIAL;
    if (is_lost(policy, ps))
        go_back(policy);
}

static void consider(vp_txpolicy *policy)
{
    if (policy->until_try > 0)
        policy->until_try--;
    else if (is_expected_to_pay(policy))
        go_parallel(policy);
}

void vp_policy_note(vp_txpolicy *policy, bool by_threads, uint64_t instructions, uint64_t ns)
{
    policy->unmeasured = MEASURED_EACH - 1;
    if (instructions < USEFUL)
        return;
    uint64_t ps = ns * 1000 / instructions;
    vp_txtimes *times = by_threads ? &policy->parallel[policy->scheme] : &policy->serial;
    policy->size = policy->size ? (3 * policy->size + instructions) / 4 : instructions;
    add(times, ps);
    if (instructions >= LONG || !is_full(times))
        policy->unmeasured = 0;
    if (!policy->is_parallel)
        consider(policy);
    else if (by_threads)
        behind_threads(policy);
    else
        behind_one(policy, ps);
}

uint32_t vp_policy_reason(const vp_txpolicy *policy)
{
    if (policy->threads < 2)
        return VP_CHOSEN_ALONE;
    if (policy->is_parallel)
        return VP_CHOSEN_PAYS;
    if (policy->has_tried)
        return VP_CHOSEN_TRIED;
    return is_full(&policy->serial) ? VP_CHOSEN_CHEAP : VP_CHOSEN_UNKNOWN;
}
