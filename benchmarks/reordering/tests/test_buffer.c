/* All interleavings of workers that send to the reorder buffer: nothing is stranded, lost, doubled or out of order. */
#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "explore.h"

enum { MOST_SLOTS = 4, MOST_SERIALS = 6 };

/* What worker sends what, in this order; a count of 0 ends it. */
typedef struct {
    const char *name;
    uint32_t workers, slots;
    struct {
        uint64_t first, count;
    } sends[EXPLORE_THREADS][MOST_SERIALS];
} plan;

static struct {
    alignas(RO_LINE) char buffer[sizeof(ro_buffer) + MOST_SLOTS * sizeof(ro_slot)];
    uint64_t sent;                        /* inputs whose outputs went downstream */
    _Atomic uint64_t tuples[MOST_SERIALS]; /* what outputs refer to */
} world;

static plan now;
static ro_buffer *buffer;
static uint64_t total;

static void get(void *context, uint64_t first, uint64_t count, uint64_t output)
{
    EXPLORE_CHECK(context == &world);
    EXPLORE_CHECK(first == world.sent);
    EXPLORE_CHECK(output == first + 100);
    uint64_t tuple = atomic_load_explicit(&world.tuples[first], memory_order_relaxed);
    EXPLORE_CHECK(tuple == first + 1);
    world.sent += count;
}

static void prepare(void)
{
    buffer = ro_buffer_format(world.buffer, now.slots, (ro_downstream){get, &world});
    for (uint32_t i = 0; i < now.slots; i++)
        explore_data(&buffer->slots[i].output);
    for (uint32_t i = 0; i < MOST_SERIALS; i++)
        explore_data(&world.tuples[i]);
}

static void send(uint64_t first, uint64_t count)
{
    atomic_store_explicit(&world.tuples[first], first + 1, memory_order_relaxed);
    for (;;) {
        uint64_t next = atomic_load_explicit(&buffer->next, memory_order_relaxed);
        if (ro_buffer_send(buffer, first, count, first + 100))
            return;
        explore_await_other_than(&buffer->next, next);
    }
}

static void run(uint32_t worker)
{
    for (uint32_t i = 0; i < MOST_SERIALS && now.sends[worker][i].count > 0; i++)
        send(now.sends[worker][i].first, now.sends[worker][i].count);
}

static void judge(void)
{
    EXPLORE_CHECK(world.sent == total); /* nothing is stranded */
    EXPLORE_CHECK(buffer->next == total);
    EXPLORE_CHECK(buffer->flag == 0);
}

static const plan plans[] = {
    {"two workers, an output each", 2, 2, {{{0, 1}}, {{1, 1}}}},
    {"two workers, two outputs in one slot", 2, 1, {{{0, 1}}, {{1, 1}}}},
    {"two workers, an output of two inputs", 2, 4, {{{0, 2}, {3, 1}}, {{2, 1}}}},
    {"two workers, three outputs in two slots", 2, 2, {{{0, 1}, {2, 1}}, {{1, 1}}}},
    {"three workers, an output each", 3, 4, {{{0, 1}}, {{1, 1}}, {{2, 1}}}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        now = plans[i];
        total = 0;
        for (uint32_t w = 0; w < now.workers; w++)
            for (uint32_t j = 0; j < MOST_SERIALS; j++)
                total += now.sends[w][j].count;
        explored found = explore(&(explore_scenario){now.name, now.workers, &world, sizeof world, prepare, run, judge});
        printf("%s: %llu states, %llu ends\n", now.name, (unsigned long long)found.states,
               (unsigned long long)found.executions);
    }
}
