/* Relaxed throughout: the words stand for themselves, nothing is read because of them. The compare and swap
 * has no ABA: what counts is the value, not how it came about. Progress: lock-free. */
#include "quota.h"

uint64_t vp_quota_size(void)
{
    return sizeof(vp_quota);
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
