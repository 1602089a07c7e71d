/* Random schedules in which others get in between the steps of one source: before each compare-and-swap,
 * and before what was entered is published. They do whole steps there, and others in between those. */
#include "check.h"
#include "harness.h"

enum { SEEDS = 3000, MOST_STEPS = 2000000, MOST_DEPTH = 5 };

static t_world world;
static t_checker checkers[MOST_READERS];
static uint64_t state;
static uint32_t depth, lazy;

/* One member is lazy: others get far ahead of it, and use memory again that it saw. */
static void somebody_acts(void)
{
    uint32_t member = random_below(&state, world.plan.sources + world.plan.readers);
    if (member == lazy && random_below(&state, 16) > 0)
        return;
    if (member < world.plan.sources)
        script_step(&world.scripts[member]);
    else
        checker_take(&checkers[member - world.plan.sources], random_below(&state, 20), random_below(&state, 10));
}

void take_a_step(void)
{
    if (depth == MOST_DEPTH)
        return;
    depth++;
    bool is_long = depth == 1 && random_below(&state, 16) == 0;
    for (uint32_t steps = random_below(&state, is_long ? 200 : 4); steps > 0; steps--)
        somebody_acts();
    depth--;
}

static void run(uint64_t seed)
{
    world = world_new(plan_random(seed));
    for (uint32_t i = 0; i < world.plan.readers; i++)
        checkers[i] = checker_new(&world, i);
    state = seed ^ 0x5eed;
    lazy = random_below(&state, world.plan.sources + world.plan.readers);
    for (uint64_t steps = 0; !world_is_done(&world, checkers); steps++) {
        CHECK(steps < MOST_STEPS); /* or nobody gets on any more */
        somebody_acts();
    }
    for (uint32_t i = 0; i < world.plan.readers; i++)
        checker_finish(&checkers[i]);
    world_free(&world);
}

int main(int count, char **arguments)
{
    uint64_t seeds = count > 1 ? strtoull(arguments[1], NULL, 10) : SEEDS;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        run(seed);
}
