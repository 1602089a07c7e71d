/* Relaxed throughout: the words stand for themselves, nothing is read because of them. The compare and swap
 * has no ABA: what counts is the value, not how it came about. Progress: lock-free.
 *
 * Death. An account is raised before anything is taken, and lowered after it was settled. So where its owner
 * dies, it may say too much, by what was wanted or settled just then, and never too little: what it says goes
 * back, and a run goes on beyond its limit by so much rather than waiting for ever for what is gone. */
#include "crash.h"
#include "quota.h"

static const uint64_t ACCOUNTS_AT = VP_LINE;

uint64_t vp_quota_size(uint32_t accounts)
{
    return ACCOUNTS_AT + accounts * sizeof(vp_account);
}

vp_account *vp_quota_account(vp_quota *quota, uint32_t index)
{
    return (vp_account *)((char *)quota + ACCOUNTS_AT) + index;
}

vp_quota *vp_quota_format(void *region, int64_t limit)
{
    vp_quota *quota = region;
    quota->limit = limit;
    atomic_init(&quota->left, limit);
    atomic_init(&quota->spent, 0);
    return quota;
}

int64_t vp_quota_take(vp_quota *quota, int64_t wanted)
{
    if (quota->limit == INT64_MAX)
        return wanted;
    int64_t left = atomic_load_explicit(&quota->left, memory_order_relaxed), granted;
    do {
        granted = left <= 0 ? 0 : left < wanted ? left : wanted;
    } while (!atomic_compare_exchange_weak_explicit(&quota->left, &left, left - granted, memory_order_relaxed,
                                                    memory_order_relaxed));
    return granted;
}

void vp_quota_settle(vp_quota *quota, int64_t taken, int64_t spent)
{
    if (quota->limit == INT64_MAX)
        return;
    atomic_fetch_add_explicit(&quota->spent, spent, memory_order_relaxed);
    atomic_fetch_add_explicit(&quota->left, taken - spent, memory_order_relaxed);
}

int64_t vp_quota_left(const vp_quota *quota)
{
    int64_t left = atomic_load_explicit(&quota->left, memory_order_relaxed);
    return left < 0 ? 0 : left;
}

bool vp_quota_used_up(const vp_quota *quota)
{
    return atomic_load_explicit(&quota->spent, memory_order_relaxed) >= quota->limit;
}

int64_t vp_account_take(vp_quota *quota, vp_account *account, int64_t wanted)
{
    if (quota->limit == INT64_MAX)
        return wanted;
    /* Acq_rel, here and below, so that no compiler moves it
     * across what it stands beside. */
    atomic_fetch_add_explicit(&account->held, wanted, memory_order_acq_rel);
    VP_CRASH_POINT("account: raised");
    int64_t granted = vp_quota_take(quota, wanted);
    VP_CRASH_POINT("account: taken");
    atomic_fetch_sub_explicit(&account->held, wanted - granted, memory_order_acq_rel);
    return granted;
}

void vp_account_settle(vp_quota *quota, vp_account *account, int64_t taken, int64_t spent)
{
    if (quota->limit == INT64_MAX)
        return;
    vp_quota_settle(quota, taken, spent);
    VP_CRASH_POINT("account: settled");
    atomic_fetch_sub_explicit(&account->held, taken, memory_order_acq_rel);
}

void vp_account_bury(vp_quota *quota, vp_account *account)
{
    vp_quota_settle(quota, atomic_load_explicit(&account->held, memory_order_relaxed), 0);
    atomic_store_explicit(&account->held, 0, memory_order_relaxed);
}
