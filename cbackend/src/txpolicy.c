#include "txpolicy.h"

#include "viper/txchoice.h"

/* What threads cost beside the work: ps for each instruction, all threads together, and to wake them up and to meet at
 * barriers, for each batch. With rows that are locked, instructions of Grep and Sums take 33 to 50 ns more on one thread,
 * and those of ledger transactions 57. So two threads are tried from some 130 ns on: with 100 ns for each operation on a
 * table they take 0.8 times (Grep and Sum) and 1.2 times (ledger) what one takes, with 200 ns 0.7 and 0.85 times, and with
 * 500 ns 0.6 and 0.67 times. */
static const uint64_t ADDED_PS = 60000, MEETING_PS = 30000000;

/* An evaluation of fewer instructions tells nothing: two looks at the clock take 50 ns. One in sixteen is measured, so
 * that these are 3 ns of each; of long ones all are, and the first few. */
enum { USEFUL = 64, LONG = 4096, MEASURED_EACH = 16 };

/* Threads are tried for as many evaluations as times are kept, which lose at most half of the time where they gain
 * nothing: so behind 64 more measured ones, and then behind twice as many each time. */
enum { SERIAL_EACH = 32, FIRST_PAUSE = 64, LONGEST_PAUSE = 4096, HAS_LASTED = 256 };

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
    return (shared_ps(policy, serial_ps) + MEETING_PS / policy->size) * 5 / 4 < serial_ps;
}

/* A batch pays where what threads save is twice what it costs them to meet. */
uint64_t vp_policy_least(const vp_txpolicy *policy)
{
    uint64_t serial_ps = vp_times_least(&policy->serial), each_ps = shared_ps(policy, serial_ps);
    return serial_ps > each_ps ? 2 * MEETING_PS / (serial_ps - each_ps) : UINT64_MAX;
}

bool vp_policy_is_for_threads(const vp_txpolicy *policy)
{
    return policy->is_parallel && policy->until_serial > 0;
}

bool vp_policy_measures(vp_txpolicy *policy)
{
    if (policy->is_parallel || policy->unmeasured == 0)
        return true;
    policy->unmeasured--;
    return false;
}

static void go_parallel(vp_txpolicy *policy)
{
    policy->is_parallel = true;
    policy->parallel = (vp_txtimes){0};
    policy->until_serial = SERIAL_EACH;
    policy->lasted = 0;
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

/* Whether threads gain less than a tenth. */
static bool is_lost(const vp_txpolicy *policy, uint64_t serial_ps)
{
    return is_full(&policy->parallel) && vp_times_least(&policy->parallel) * 11 / 10 >= serial_ps;
}

static void behind_threads(vp_txpolicy *policy)
{
    policy->lasted++;
    policy->until_serial--;
    if (is_lost(policy, vp_times_least(&policy->serial)))
        policy->until_serial = 0; /* it may be the work that is dearer now */
}

static void behind_one(vp_txpolicy *policy, uint64_t ps)
{
    policy->until_serial = SERIAL_EACH;
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
    vp_txtimes *times = by_threads ? &policy->parallel : &policy->serial;
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
