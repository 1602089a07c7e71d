/* One thread of a process evaluates at a time, as all of them share the lease. So nothing here is locked but the end of
 * the threads, which may come while one evaluates that was left behind in a callback of the user's.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "txchoice.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "scheme.h"
#include "txpolicy.h"
#include "viper/txchoice.h"

/* No scheme is the fastest everywhere. On two threads, locks of partitions gain most of Grep and Sums and of ledger
 * transactions while an operation costs 50 to 200 ns (1.5 times, where locks of rows gain 1.2 times), and locks of rows
 * above (1.8 and 1.7 times); partitions apart gain most of Toll Processing (1.3 to 1.8 times, where the others gain
 * nothing below 500 ns). Chains and versions were the fastest of none of 98 points but by less than their range. */
static const uint32_t SCHEMES_OF_AUTO[VP_POLICY_SCHEMES] = {
    VP_SCHEME_PARTITION_LOCKS,
    VP_SCHEME_LOCKS,
    VP_SCHEME_PARTITIONS_APART,
};

/* Transactions of a batch: as many as tasks gather, about. Larger ones leave near caches before they are run: with batches
 * of 500 to 2,000, ledger transactions of 2 us gain 1.5 times, and with 10,000 of them 1.3 to 1.5 times. */
enum { BATCH = 1024 };

/* Where they are asked for by name, partitions are as many as threads. */
enum { PARTITIONS_OF_AUTO = 16 };

struct vp_txchoice {
    vp_txgroup *group;
    vp_txchoice_words *words;
    uint64_t region;
    uint32_t evaluator, threads;
    vp_txpolicy policy;
    vp_txscheme *scheme;  /* NULL: not made yet, or it cannot be */
    pid_t maker;          /* of the scheme, and so of its threads */
    bool is_serial;       /* for good */
    uint32_t reason;      /* of evaluators that do not measure */
    _Atomic bool is_busy; /* somebody evaluates, or ends the threads */
};

static uint64_t scheme_at(uint64_t region)
{
    return region + sizeof(vp_txchoice_words);
}

uint64_t vp_txchoice_size(uint32_t threads)
{
    uint64_t scheme = vp_txscheme_size(threads);
    if (!scheme)
        return 0;
    return sizeof(vp_txchoice_words) + (threads > 1 ? scheme : 0);
}

static bool is_known(uint32_t evaluator)
{
    return evaluator == VP_CHOICE_SERIAL || evaluator == VP_CHOICE_AUTO ||
           (evaluator <= VP_SCHEME_PARTITIONS_APART && evaluator != VP_SCHEME_NO_LOCKS);
}

static void tell_word(vp_word *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static void tell(const vp_txchoice *choice)
{
    const vp_txpolicy *policy = &choice->policy;
    bool is_measured = choice->evaluator == VP_CHOICE_AUTO && choice->reason != VP_CHOSEN_NO_THREADS;
    tell_word(&choice->words->serial_ps, vp_times_least(&policy->serial));
    tell_word(&choice->words->parallel_ps, vp_times_least(&policy->parallel[vp_policy_scheme(policy)]));
    tell_word(&choice->words->reason, is_measured ? vp_policy_reason(policy) : choice->reason);
}

vp_txchoice *vp_txchoice_new(vp_txgroup *group, uint64_t region, uint32_t evaluator, uint32_t threads)
{
    if (!vp_txchoice_size(threads) || !is_known(evaluator))
        return NULL;
    vp_txchoice *choice = calloc(1, sizeof *choice);
    if (!choice)
        return NULL;
    choice->group = group;
    choice->region = region;
    choice->words = (vp_txchoice_words *)(vp_txgroup_arena(group) + region);
    choice->evaluator = evaluator;
    choice->threads = threads;
    choice->is_serial = threads < 2 || evaluator == VP_CHOICE_SERIAL;
    choice->reason = evaluator == VP_CHOICE_SERIAL || threads > 1 ? VP_CHOSEN_ASKED : VP_CHOSEN_ALONE;
    vp_policy_begin(&choice->policy, evaluator == VP_CHOICE_AUTO ? threads : 1);
    tell(choice);
    return choice;
}

static void free_scheme(vp_txchoice *choice)
{
    if (choice->scheme && choice->maker == getpid())
        vp_txscheme_free(choice->scheme);
    choice->scheme = NULL;
    choice->is_serial = true;
}

void vp_txchoice_free(vp_txchoice *choice)
{
    free_scheme(choice);
    free(choice);
}

void vp_txchoice_end(vp_txchoice *choice)
{
    if (atomic_exchange_explicit(&choice->is_busy, true, memory_order_acquire)) /* B0 <- B1 */
        return;
    free_scheme(choice);
    atomic_store_explicit(&choice->is_busy, false, memory_order_release); /* B1 -> B0 */
}

/* -- an evaluation */

/* The scheme, which is made where there is none yet; NULL if it cannot be. */
static vp_txscheme *scheme_of(vp_txchoice *choice)
{
    if (choice->is_serial || choice->scheme)
        return choice->scheme;
    bool is_auto = choice->evaluator == VP_CHOICE_AUTO;
    choice->scheme = vp_txscheme_new(choice->group, scheme_at(choice->region), is_auto ? SCHEMES_OF_AUTO[0] : choice->evaluator,
                                     choice->threads, BATCH, is_auto ? PARTITIONS_OF_AUTO : choice->threads);
    choice->maker = getpid();
    if (!choice->scheme) {
        choice->is_serial = true;
        choice->reason = VP_CHOSEN_NO_THREADS;
        vp_policy_begin(&choice->policy, 1);
    }
    return choice->scheme;
}

/* How much was evaluated so far, and when that was; 0 where nobody asks for the time. */
typedef struct {
    uint64_t transactions, instructions, ns;
} reading;

static reading take_reading(const vp_evaluation *run, bool has_time)
{
    const vp_word *committed = run->group->committed.counts;
    struct timespec now = {0};
    if (has_time)
        clock_gettime(CLOCK_MONOTONIC, &now);
    return (reading){
        atomic_load_explicit(&committed[VP_TXCOUNT_TRANSACTIONS], memory_order_relaxed) + run->counts.transactions,
        atomic_load_explicit(&committed[VP_TXCOUNT_INSTRUCTIONS], memory_order_relaxed) + run->counts.instructions,
        (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
    };
}

/* Who has evaluated; both, where some batches were small. */
typedef struct {
    bool all, one;
} share;

static int evaluate_by_one(vp_evaluation *run, share *by)
{
    vp_txundo undo = vp_txgroup_undo(run->group);
    *by = (share){.one = true};
    return vp_serial_run(run, &undo);
}

static int evaluate_by_all(vp_txchoice *choice, vp_evaluation *run, share *by)
{
    vp_txscheme *scheme = choice->scheme;
    uint64_t batches = scheme->batches, small = scheme->small;
    if (choice->evaluator == VP_CHOICE_AUTO) {
        scheme->least = vp_policy_least(&choice->policy);
        vp_scheme_become(scheme, SCHEMES_OF_AUTO[vp_policy_scheme(&choice->policy)]);
    }
    int result = vp_scheme_run(run, scheme);
    *by = (share){scheme->batches > batches, scheme->small > small};
    return result;
}

static int choose(vp_txchoice *choice, vp_evaluation *run)
{
    share by;
    bool is_wanted = choice->evaluator != VP_CHOICE_AUTO || vp_policy_is_for_threads(&choice->policy);
    bool is_measured = vp_policy_measures(&choice->policy);
    reading before = take_reading(run, is_measured);
    int result = is_wanted && scheme_of(choice) ? evaluate_by_all(choice, run, &by) : evaluate_by_one(run, &by);
    reading behind = take_reading(run, is_measured);
    if (is_measured && by.all != by.one) {
        vp_policy_note(&choice->policy, by.all, behind.instructions - before.instructions, behind.ns - before.ns);
        tell(choice);
    }
    vp_word *count = by.all ? &choice->words->parallel : &choice->words->serial;
    if (behind.transactions > before.transactions)
        tell_word(count, atomic_load_explicit(count, memory_order_relaxed) + 1);
    return result;
}

/* Without its threads, should somebody be about to end them. */
static int run_choice(vp_evaluation *run, void *context)
{
    vp_txchoice *choice = context;
    share by;
    if (atomic_exchange_explicit(&choice->is_busy, true, memory_order_acquire)) /* B0 <- B1 */
        return evaluate_by_one(run, &by);
    int result = choose(choice, run);
    atomic_store_explicit(&choice->is_busy, false, memory_order_release); /* B1 -> B0 */
    return result;
}

int vp_txchoice_evaluate(vp_txchoice *choice, uint32_t holder, int32_t me, int32_t *who)
{
    return vp_evaluate_by(choice->group, holder, me, who, run_choice, choice);
}

static uint64_t told(const vp_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

void vp_txchoice_chosen(vp_txgroup *group, uint64_t region, vp_txchosen *chosen)
{
    const vp_txchoice_words *words = (const vp_txchoice_words *)(vp_txgroup_arena(group) + region);
    *chosen = (vp_txchosen){told(&words->serial), told(&words->parallel), told(&words->serial_ps), told(&words->parallel_ps),
                            told(&words->reason)};
}
