#include "progress.h"

#include "crash.h"

void vp_progress_publish(vp_progress *progress, vp_position position)
{
    /* Relaxed: the writer's own word. Odd already where a writer died: the next odd one, then. */
    uint64_t odd = (atomic_load_explicit(&progress->version, memory_order_relaxed) + 1) | 1;
    /* Relaxed: the three releases below keep it before the words. */
    atomic_store_explicit(&progress->version, odd, memory_order_relaxed);
    VP_CRASH_POINT("progress: odd");
    atomic_store_explicit(&progress->ts, position.ts, memory_order_release); /* R3 -> A3 */
    VP_CRASH_POINT("progress: torn");
    atomic_store_explicit(&progress->hi, position.hi, memory_order_release);    /* R3 -> A3 */
    atomic_store_explicit(&progress->lo, position.lo, memory_order_release);    /* R3 -> A3 */
    atomic_store_explicit(&progress->version, odd + 1, memory_order_release); /* R2 -> A2 */
    VP_CRASH_POINT("progress: even");
}

bool vp_progress_read(const vp_progress *progress, vp_position *position)
{
    uint64_t before = atomic_load_explicit(&progress->version, memory_order_acquire); /* A2 <- R2 */
    vp_position read = {
        atomic_load_explicit(&progress->ts, memory_order_acquire), /* A3 <- R3 */
        atomic_load_explicit(&progress->hi, memory_order_acquire), /* A3 <- R3 */
        atomic_load_explicit(&progress->lo, memory_order_acquire), /* A3 <- R3 */
        0,
    };
    /* Relaxed: the acquires above keep it behind the words. */
    uint64_t after = atomic_load_explicit(&progress->version, memory_order_relaxed);
    if (before != after || before % 2)
        return false;
    *position = read;
    return true;
}
