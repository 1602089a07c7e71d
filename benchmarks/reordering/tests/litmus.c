/* How often an output is stranded on this machine, by the way in which the flag of the reorder buffer is cleared.
 *
 *     litmus [ROUNDS]
 *
 * In each round two threads send one output each at the same time. Both have returned from it when the round is judged,
 * so an output that is still in the buffer would lie there until somebody's next send.
 * No other test depends on this one, as a machine shows such a thing or does not: test_buffer.c explores it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "buffer.h"

enum { SLOTS = 64 };

static alignas(RO_LINE) char memory[sizeof(ro_buffer) + SLOTS * sizeof(ro_slot)];
static ro_buffer *buffer;
static uint64_t rounds = 1000000;
static alignas(RO_LINE) _Atomic uint64_t begun;
static alignas(RO_LINE) _Atomic uint64_t ended;

static void get(void *context, uint64_t first, uint64_t count, uint64_t output)
{
    (void)context, (void)first, (void)count, (void)output;
}

/* Both threads leave as nearly together as they can; one that waits for long makes way. */
static void await(const _Atomic uint64_t *word, uint64_t value)
{
    for (uint32_t tries = 0; atomic_load_explicit(word, memory_order_acquire) < value; tries++)
        if (tries > 10000)
            sched_yield();
}

static void *send_second(void *argument)
{
    (void)argument;
    for (uint64_t round = 0; round < rounds; round++) {
        await(&begun, round + 1);
        ro_buffer_send(buffer, 2 * round + 1, 1, 1);
        atomic_store_explicit(&ended, round + 1, memory_order_release);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t second;
    uint64_t stranded = 0;
    if (count > 1)
        rounds = strtoull(arguments[1], NULL, 10);
    buffer = ro_buffer_format(memory, SLOTS, (ro_downstream){get, NULL});
    if (pthread_create(&second, NULL, send_second, NULL) != 0)
        abort();
    for (uint64_t round = 0; round < rounds; round++) {
        atomic_store_explicit(&begun, round + 1, memory_order_release);
        ro_buffer_send(buffer, 2 * round, 1, 1);
        await(&ended, round + 1);
        if (atomic_load_explicit(&buffer->next, memory_order_acquire) != 2 * round + 2)
            stranded++;
        while (atomic_load_explicit(&buffer->next, memory_order_acquire) != 2 * round + 2)
            ro_buffer_send(buffer, 2 * round + 1 + SLOTS, 1, 1); /* too far: nothing but a look at what is ready */
    }
    pthread_join(second, NULL);
    printf("%llu of %llu rounds left an output stranded\n", (unsigned long long)stranded, (unsigned long long)rounds);
    return stranded > 0;
}
