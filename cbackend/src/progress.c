#include "progress.h"

void vp_progress_publish(vp_progress *progress, vp_position position)
{
    /* Relaxed: the writer's own word. */
    uint64_t version = atomic_load_explicit(&progress->version, memory_order_relaxed);
    /* Relaxed: the three releases below keep it before the words. */
    atomic_store_explicit(&progress->version, version + 1, memory_order_relaxed);
    atomic_store_explicit(&progress->ts, position.ts, memory_order_release);    /* R3 -> A3 */
    atomic_store_explicit(&progress->hi, position.hi, memory_order_release);    /* R3 -> A3 */
    atomic_store_explicit(&progress->lo, position.lo, memory_order_release);    /* R3 -> A3 */
    atomic_store_explicit(&progress->version, version + 2, memory_order_release); /* R2 -> A2 */
}

bool vp_progress_read(const vp_progress *progress, vp_position *position)
{
    uint64_t before = atomic_load_explicit(&progress->version, memory_order_acquire); /* A2 <- R2 */
    vp_position read = {
        atomic_load_explicit(&progress->ts, memory_order_acquire), /* A3 <- R3 */
        atomic_load_explicit(&progress->hi, memory_order_acquire), /* A3 <- R3 */
        atomic_load_explicit(&progress->lo, memory_order_acquire), /* A3 <- R3 */
    };
    /* Relaxed: the acquires above keep it behind the words. */
    uint64_t after = atomic_load_explicit(&progress->version, memory_order_relaxed);
    if (before != after || before % 2)
        return false;
    *position = read;
    return true;
}
