/* Relaxed throughout: the word stands for itself, nothing is read because of it. The compare and swap
 * has no ABA: what counts is the value, not how it came about. Progress: lock-free. */
#include "quota.h"

uint64_t vp_quota_size(void)
{
    return sizeof(vp_quota);
}

vp_quota *vp_quota_format(void *region, int64_t limit)
{
    vp_quota *quota = region;
    atomic_init(&quota->left, limit);
    return quota;
}

/* What is left after `count` more, or fewer where it is negative; without a limit it stays so. */
static int64_t after(int64_t left, int64_t count)
{
    return left == INT64_MAX ? left : left - count;
}

int64_t vp_quota_take(vp_quota *quota, int64_t wanted)
{
    int64_t left = atomic_load_explicit(&quota->left, memory_order_relaxed), granted;
    do {
        granted = left <= 0 ? 0 : left < wanted ? left : wanted;
    } while (!atomic_compare_exchange_weak_explicit(&quota->left, &left, after(left, granted),
                                                    memory_order_relaxed, memory_order_relaxed));
    return granted;
}

void vp_quota_spend(vp_quota *quota, int64_t count)
{
    int64_t left = atomic_load_explicit(&quota->left, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&quota->left, &left, after(left, count), memory_order_relaxed,
                                                  memory_order_relaxed))
        continue;
}

void vp_quota_give(vp_quota *quota, int64_t count)
{
    vp_quota_spend(quota, -count);
}

int64_t vp_quota_left(const vp_quota *quota)
{
    return atomic_load_explicit(&quota->left, memory_order_relaxed);
}
