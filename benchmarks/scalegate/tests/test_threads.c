/* Sources and readers on threads of their own. What the other tests cannot see, the thread sanitizer does:
 * an order that is too weak is a race on nodes, positions, slots or payloads. */
#include <pthread.h>

#include "members.h"

enum { SEEDS = 12 };

static t_world world;
static uint32_t indexes[MOST_READERS] = {0, 1, 2, 3};

static void *source_thread(void *script)
{
    be_source(script);
    return NULL;
}

static void *reader_thread(void *index)
{
    be_reader(&world, *(uint32_t *)index);
    return NULL;
}

static void run(uint64_t seed)
{
    world = world_new(plan_concurrent(seed, false));
    pthread_t threads[MOST_SOURCES + MOST_READERS];
    uint32_t made = 0;
    for (uint32_t i = 0; i < world.plan.readers; i++)
        CHECK(pthread_create(&threads[made++], NULL, reader_thread, &indexes[i]) == 0);
    for (uint32_t i = 0; i < world.plan.sources; i++)
        CHECK(pthread_create(&threads[made++], NULL, source_thread, &world.scripts[i]) == 0);
    while (made > 0)
        CHECK(pthread_join(threads[--made], NULL) == 0);
    world_free(&world);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run(seed);
}
