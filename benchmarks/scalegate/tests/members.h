/* What sources and readers do that have a thread or a process of their own. */
#ifndef SCALEGATE_MEMBERS_H
#define SCALEGATE_MEMBERS_H

#include <sched.h>

#include "check.h"
#include "harness.h"

/* A plan with room enough for several to be at work. */
static inline t_plan plan_concurrent(uint64_t seed, bool shared)
{
    t_plan made = plan_random(seed);
    made.sources = 2 + seed % 3;
    made.readers = 1 + seed % 2;
    made.actions = 1500;
    made.shared = shared;
    return made;
}

static inline void be_source(t_script *script)
{
    while (!script_is_done(script))
        if (!script_step(script))
            sched_yield();
}

static inline void be_reader(const t_world *world, uint32_t index)
{
    t_checker checker = checker_new(world, index);
    uint64_t state = world->plan.seed + index;
    while (!sl_reader_drained(checker.reader))
        if (checker_take(&checker, 1 + random_below(&state, 40), 1 + random_below(&state, 10)) == 0)
            sched_yield();
    checker_finish(&checker);
}

#endif
