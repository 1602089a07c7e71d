/* What the litmus clients share: rounds, threads and bounded tries.
 *
 * A client is one small scenario in one file. A model checker takes it as it is: one round, loops of
 * few turns, and nothing but atomics, threads, a mutex and assertions. With -DROUNDS=n it repeats the
 * scenario on the machine at hand; with -DVP_CRASH_POINTS, too, by the interleavings of steps.h.
 */
#ifndef VIPER_LITMUS_H
#define VIPER_LITMUS_H

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif
/* How often something is tried that another thread must make possible: nobody waits for ever. */
enum { TRIES = ROUNDS > 1 ? 100 : 2 };

#ifdef VP_CRASH_POINTS
#include "steps.h"
enum { BY_STEPS = 1 };
#else
enum { BY_STEPS = 0 };
static inline void begin_steps(uint64_t seed, uint32_t count)
{
    (void)seed, (void)count;
}
static inline void enter_steps(uint32_t number)
{
    (void)number;
}
static inline void leave_steps(void)
{
}
/* Free threads meet more often if they make way for each other. */
static inline void step(void)
{
    if (ROUNDS > 1)
        sched_yield();
}
#endif

typedef void scenario(void);
typedef struct {
    uint32_t number;
    scenario *run;
} task;

/* What holds before a round's threads start, and what must hold once they have ended. */
static scenario prepare_round, judge_round;

/* Over all rounds: how often the scenario got where it matters. */
static uint64_t witnessed;

static void *start(void *argument)
{
    const task *own = argument;
    enter_steps(own->number);
    own->run();
    leave_steps();
    return NULL;
}

static void run_round(uint32_t count, task *tasks)
{
    pthread_t started[3];
    assert(count <= 3);
    for (uint32_t i = 0; i < count; i++) {
        int failed = pthread_create(&started[i], NULL, start, &tasks[i]);
        assert(!failed);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(started[i], NULL);
}

/* Free threads may always have met too late, or not at all; by steps they meet in some rounds. */
static int run_rounds(uint32_t count, task *tasks)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        begin_steps(round, count);
        prepare_round();
        run_round(count, tasks);
        judge_round();
    }
    if (ROUNDS == 1 || !BY_STEPS || witnessed > 0)
        return 0;
    fprintf(stderr, "%d rounds proved nothing: none got where it matters\n", ROUNDS);
    return 1;
}

#endif
