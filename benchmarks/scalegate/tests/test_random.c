/* Random schedules on one thread: what is ready is exactly what the definition says, in order, however
 * small the gate, whoever lags, and however often its memory was used again. */
#include "check.h"
#include "harness.h"

enum { SEEDS = 300, MOST_STEPS = 2000000 };

static void check_everything_ready_is_taken(t_checker *checker)
{
    while (checker_take(checker, 1000, MOST_RUNS) > 0)
        continue;
    CHECK_EQUAL(checker->seen, world_ready(checker->world));
}

static void take(t_checker *checker, uint64_t *state)
{
    if (random_below(state, 3) == 0)
        check_everything_ready_is_taken(checker);
    else
        checker_take(checker, random_below(state, 20), random_below(state, 10));
}

/* One member is lazy: the others run into their bounds while they wait for it. */
static void run(uint64_t seed)
{
    t_world world = world_new(plan_random(seed));
    t_checker checkers[MOST_READERS];
    for (uint32_t i = 0; i < world.plan.readers; i++)
        checkers[i] = checker_new(&world, i);
    uint64_t state = seed ^ 0x5eed, steps = 0;
    uint32_t members = world.plan.sources + world.plan.readers, lazy = random_below(&state, members);
    while (!world_is_done(&world, checkers)) {
        CHECK(++steps < MOST_STEPS); /* or nobody gets on any more */
        uint32_t member = random_below(&state, members);
        if (member == lazy && random_below(&state, 8) > 0)
            continue;
        if (member < world.plan.sources)
            script_step(&world.scripts[member]);
        else
            take(&checkers[member - world.plan.sources], &state);
    }
    for (uint32_t i = 0; i < world.plan.readers; i++)
        checker_finish(&checkers[i]);
    world_free(&world);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run(seed);
}
