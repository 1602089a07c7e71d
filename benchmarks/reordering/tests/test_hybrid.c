/* All interleavings of a producer and of workers on the hybrid queue: the tuples of a partition are worked on once, in
 * order, and one at a time. */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "hybrid.h"

enum { PARTITIONS = 2, MOST_ROOM = 4, MOST_TUPLES = 4 };
enum { SIZE = sizeof(ro_hybrid) + PARTITIONS * sizeof(ro_partition) + (PARTITIONS + 1) * MOST_ROOM * 8 };

typedef struct {
    const char *name;
    uint32_t workers;
    uint64_t room;
    uint32_t before; /* tuples that are there when the workers begin; one more thread adds the others */
    const char *partitions; /* of each tuple */
    uint32_t tries; /* of each worker, which does not wait for the producer, unless it is alone */
} plan;

static struct {
    alignas(RO_APART) char queue[SIZE];
    _Atomic uint64_t state[PARTITIONS]; /* tuples that were worked on, as an operator would store it */
    uint64_t is_busy[PARTITIONS];
    uint64_t last[PARTITIONS], done;
} world;

static plan now;
static ro_hybrid *queue;

static uint64_t partition_of(uint64_t tuple)
{
    return (uint64_t)(now.partitions[tuple - 1] - 'a');
}

static void work(void *context, uint64_t partition, uint64_t tuple)
{
    EXPLORE_CHECK(context == &world);
    EXPLORE_CHECK(tuple >= 1 && tuple <= strlen(now.partitions));
    EXPLORE_CHECK(partition == partition_of(tuple));
    EXPLORE_CHECK(tuple > world.last[partition]);
    EXPLORE_CHECK(!world.is_busy[partition]);
    world.is_busy[partition] = true;
    uint64_t worked_on = atomic_load_explicit(&world.state[partition], memory_order_relaxed);
    atomic_store_explicit(&world.state[partition], worked_on + 1, memory_order_relaxed);
    explore_step();
    world.is_busy[partition] = false;
    world.last[partition] = tuple;
    world.done++;
}

static void prepare(void)
{
    queue = ro_hybrid_format(world.queue, PARTITIONS, now.room);
    for (uint64_t i = 0; i < PARTITIONS; i++) {
        explore_data(&world.state[i]);
        for (uint64_t j = 0; j < now.room; j++)
            explore_data(ro_hybrid_place(queue, i, j));
    }
    for (uint64_t tuple = 1; tuple <= now.before; tuple++)
        EXPLORE_CHECK(ro_hybrid_add(queue, partition_of(tuple), tuple));
}

static void produce(void)
{
    for (uint64_t tuple = now.before + 1; tuple <= strlen(now.partitions); tuple++) {
        const ro_partition *to = &queue->partitions[partition_of(tuple)];
        for (;;) {
            uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
            uint64_t its_head = atomic_load_explicit(&to->head, memory_order_relaxed);
            if (ro_hybrid_add(queue, partition_of(tuple), tuple))
                break;
            bool is_full = queue->tail - head == queue->room;
            explore_await_other_than(is_full ? &queue->head : &to->head, is_full ? head : its_head);
        }
    }
}

static void consume(void)
{
    for (uint32_t i = 0; i < now.tries; i++) {
        uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
        while (!ro_hybrid_consume(queue, work, &world) && now.workers == 1)
            explore_await_other_than(&queue->tail, tail);
    }
}

static void run(uint32_t thread)
{
    if (thread == now.workers)
        produce();
    else
        consume();
}

static void judge(void)
{
    while (ro_hybrid_consume(queue, work, &world))
        continue;
    EXPLORE_CHECK(world.done == strlen(now.partitions));
    uint64_t stored = 0;
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        EXPLORE_CHECK(queue->partitions[i].count == 0);
        stored += world.state[i];
    }
    EXPLORE_CHECK(stored == world.done);
}

static const plan plans[] = {
    {"two workers, two tuples of a partition", 2, 4, 2, "aa", 2},
    {"two workers, tuples of two partitions", 2, 4, 3, "aba", 2},
    {"three workers, three tuples of a partition", 3, 4, 3, "aaa", 1},
    {"a producer and two workers", 2, 2, 0, "aa", 1},
    {"a producer and a worker, three tuples in two places", 1, 2, 0, "aaa", 3},
};

int main(void)
{
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        now = plans[i];
        uint32_t threads = now.workers + (strlen(now.partitions) > now.before);
        explored found = explore(&(explore_scenario){now.name, threads, &world, sizeof world, prepare, run, judge});
        printf("%s: %llu states, %llu ends\n", now.name, (unsigned long long)found.states,
               (unsigned long long)found.executions);
    }
}
