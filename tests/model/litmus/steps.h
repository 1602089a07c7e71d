/* Threads that run one at a time, from one point to the next: the same interleavings in every run.
 *
 * At each of the sources' named points, and between a client's tries, a draw says who goes on; a round
 * has its own draws. What this cannot show is what only a weak order allows: the locks here order all.
 */
#ifndef VIPER_LITMUS_STEPS_H
#define VIPER_LITMUS_STEPS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_THREADS = 3, NOBODY = MOST_THREADS };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t state;
    uint32_t turn;
    bool present[MOST_THREADS];
} steps = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, NOBODY, {false}};

static _Thread_local uint32_t own_number = NOBODY;

/* Whose turn it is next; under the lock. */
static uint32_t draw(void)
{
    steps.state = steps.state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t first = (uint32_t)(steps.state >> 33) % MOST_THREADS;
    for (uint32_t i = 0; i < MOST_THREADS; i++)
        if (steps.present[(first + i) % MOST_THREADS])
            return (first + i) % MOST_THREADS;
    return NOBODY;
}

static void give_turn_and_await(void)
{
    steps.turn = draw();
    pthread_cond_broadcast(&steps.changed);
    while (steps.turn != own_number)
        pthread_cond_wait(&steps.changed, &steps.lock);
}

/* Before the threads of a round are started. */
static void begin_steps(uint64_t seed, uint32_t count)
{
    steps.state = seed * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = 0; i < count; i++)
        steps.present[i] = true;
    steps.turn = draw();
}

static void enter_steps(uint32_t number)
{
    own_number = number;
    pthread_mutex_lock(&steps.lock);
    while (steps.turn != own_number)
        pthread_cond_wait(&steps.changed, &steps.lock);
    pthread_mutex_unlock(&steps.lock);
}

static void leave_steps(void)
{
    pthread_mutex_lock(&steps.lock);
    steps.present[own_number] = false;
    steps.turn = draw();
    pthread_cond_broadcast(&steps.changed);
    pthread_mutex_unlock(&steps.lock);
    own_number = NOBODY;
}

/* Nothing outside a round's threads. */
static void step(void)
{
    if (own_number == NOBODY)
        return;
    pthread_mutex_lock(&steps.lock);
    give_turn_and_await();
    pthread_mutex_unlock(&steps.lock);
}

void vp_crash_point(const char *name)
{
    (void)name;
    step();
}

#endif
