/* R2, R3 -> A2, A3: a position is read as one that was published, and positions never descend.
 *
 * Planted: a reader that leaves out the second look at the version.
 */
#include "litmus.h"

#include "one_unit.h"

enum { PUBLISHED = TRIES, READS = TRIES };

static vp_progress progress;
static int64_t latest;

static void prepare_round(void)
{
    memset(&progress, 0, sizeof progress);
    latest = 0;
}

static bool look(vp_position *position)
{
#ifdef PLANTED
    if (atomic_load_explicit(&progress.version, memory_order_acquire) % 2)
        return false;
    position->ts = atomic_load(&progress.ts);
    step();
    position->hi = atomic_load(&progress.hi);
    position->lo = atomic_load(&progress.lo);
    return true;
#else
    return vp_progress_read(&progress, position);
#endif
}

static void publish(void)
{
    for (int64_t ts = 1; ts <= PUBLISHED; ts++)
        vp_progress_publish(&progress, at(ts));
}

static void consume(void)
{
    for (int reads = 0; reads < READS; reads++) {
        step();
        vp_position position = at(latest);
        if (!look(&position))
            continue;
        assert(position.hi == (uint64_t)position.ts && position.lo == (uint64_t)position.ts);
        assert(position.ts >= latest);
        latest = position.ts;
    }
}

static void judge_round(void)
{
    witnessed += latest > 0 && latest < PUBLISHED; /* it was read while it was being written */
}

int main(void)
{
    return run_rounds(2, (task[]){{0, publish}, {1, consume}});
}
