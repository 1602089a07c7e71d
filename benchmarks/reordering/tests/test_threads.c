/* Threads that the system schedules, as the sanitizers want them: all outputs come in order, and once. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "heap.h"
#include "hybrid.h"

enum { WORKERS = 4, OUTPUTS = 20000, SLOTS = 64, PARTITIONS = 7, ROOM = 32 };

#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                    \
        }                                                                               \
    } while (0)

static ro_buffer *buffer;
static ro_heap *heap;
static ro_hybrid *queue;
static _Atomic uint64_t cursor;
static uint64_t tuples[OUTPUTS], sent;           /* written by whoever has the turn */
static uint64_t last[PARTITIONS], done[WORKERS]; /* likewise; by each worker */

static void *new_memory(uint64_t bytes)
{
    void *block = NULL;
    CHECK(posix_memalign(&block, 128, bytes) == 0);
    return memset(block, 0, bytes);
}

static void get(void *context, uint64_t first, uint64_t count, uint64_t output)
{
    CHECK(!context && first == sent && output == first + 1);
    for (uint64_t i = first; i < first + count; i++)
        CHECK(tuples[i] == i + 7);
    sent += count;
}

/* An output for one input, or for several. */
static uint64_t count_of(uint64_t first)
{
    uint64_t count = 1 + first % 3;
    return count < OUTPUTS - first ? count : OUTPUTS - first;
}

static void send(uint64_t first)
{
    for (uint64_t i = first; i < first + count_of(first); i++)
        tuples[i] = i + 7;
    while (!(buffer ? ro_buffer_send(buffer, first, count_of(first), first + 1)
                    : ro_heap_send(heap, first, count_of(first), first + 1)))
        sched_yield();
}

static void *send_all(void *argument)
{
    (void)argument;
    for (uint64_t first = atomic_load(&cursor); first < OUTPUTS;)
        if (atomic_compare_exchange_strong(&cursor, &first, first + count_of(first)))
            send(first);
    return NULL;
}

static void run_threads(void *(*run)(void *))
{
    pthread_t threads[WORKERS];
    static uint32_t indexes[WORKERS];
    for (uint32_t i = 0; i < WORKERS; i++) {
        indexes[i] = i;
        CHECK(pthread_create(&threads[i], NULL, run, &indexes[i]) == 0);
    }
    for (uint32_t i = 0; i < WORKERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void reorder(const char *name)
{
    sent = 0;
    cursor = 0;
    memset(tuples, 0, sizeof tuples);
    run_threads(send_all);
    CHECK(sent == OUTPUTS);
    printf("%s: %d outputs\n", name, OUTPUTS);
}

static void work(void *context, uint64_t partition, uint64_t tuple)
{
    CHECK(partition == tuple % PARTITIONS && tuple == last[partition] + PARTITIONS);
    last[partition] = tuple;
    done[*(const uint32_t *)context]++;
}

/* The first one produces as well: it works where a queue is full. */
static void *work_on_all(void *argument)
{
    const uint32_t *own = argument;
    for (uint64_t next = PARTITIONS; *own == 0 && next < OUTPUTS + PARTITIONS;) {
        if (ro_hybrid_add(queue, next % PARTITIONS, next))
            next++;
        else if (!ro_hybrid_consume(queue, work, argument))
            sched_yield();
    }
    if (*own == 0)
        atomic_store(&cursor, 1);
    for (bool is_last = false; !is_last;) {
        is_last = atomic_load(&cursor);
        while (ro_hybrid_consume(queue, work, argument))
            continue;
        sched_yield();
    }
    return NULL;
}

static void work_by_partition(void)
{
    uint64_t total = 0;
    cursor = 0;
    for (uint64_t i = 0; i < PARTITIONS; i++)
        last[i] = i;
    run_threads(work_on_all);
    for (uint32_t i = 0; i < WORKERS; i++)
        total += done[i];
    CHECK(total == OUTPUTS);
    for (uint64_t i = 0; i < PARTITIONS; i++)
        CHECK(queue->partitions[i].count == 0);
    printf("hybrid queue: %d tuples\n", OUTPUTS);
}

int main(void)
{
    buffer = ro_buffer_format(new_memory(ro_buffer_size(SLOTS)), SLOTS, (ro_downstream){get, NULL});
    reorder("buffer");
    free(buffer);
    buffer = NULL;
    heap = ro_heap_format(new_memory(ro_heap_size(SLOTS)), SLOTS, (ro_downstream){get, NULL});
    reorder("heap");
    free(heap);
    queue = ro_hybrid_format(new_memory(ro_hybrid_size(PARTITIONS, ROOM)), PARTITIONS, ROOM);
    work_by_partition();
    free(queue);
}
