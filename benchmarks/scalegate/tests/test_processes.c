/* Sources and readers in processes of their own, each with the gate at another address. */
#define _GNU_SOURCE /* mremap */

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "members.h"

enum { SEEDS = 12 };

/* The gate somewhere else; the old place is left without access. */
static void move_gate(t_world *world)
{
    void *elsewhere = mremap(world->gate, world->bytes, world->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                             mmap(NULL, world->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(elsewhere != MAP_FAILED && elsewhere != (void *)world->gate);
    world->gate = elsewhere;
}

static void be_member(t_world world, uint32_t member)
{
    alarm(20); /* not inherited */
    move_gate(&world);
    if (member < world.plan.readers) {
        be_reader(&world, member);
    } else {
        t_script script = world.scripts[member - world.plan.readers]; /* a copy: the gate's address is its own */
        script.gate = world.gate;
        script.payloads = world.scripts[member - world.plan.readers].payloads;
        be_source(&script);
    }
}

static void run(uint64_t seed)
{
    t_world world = world_new(plan_concurrent(seed, true));
    uint32_t members = world.plan.readers + world.plan.sources;
    for (uint32_t i = 0; i < members; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            be_member(world, i);
            _exit(0);
        }
    }
    for (uint32_t i = 0; i < members; i++) {
        int status;
        CHECK(wait(&status) > 0);
        CHECK_EQUAL(status, 0);
    }
    world_free(&world);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run(seed);
}
