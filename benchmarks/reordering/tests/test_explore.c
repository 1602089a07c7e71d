/* The exploration itself: it comes to each outcome that its memory allows, and to no other. */
#include <stdio.h>
#include <string.h>

#include "explore.h"

static struct {
    _Atomic uint64_t x, y;
    uint64_t found[EXPLORE_THREADS];
} world;

static memory_order order; /* of what a scenario varies */
static bool by_exchange;
static uint64_t seen; /* a bit for each outcome */

static void store(_Atomic uint64_t *word, uint64_t value, memory_order its)
{
    if (by_exchange)
        atomic_exchange_explicit(word, value, its);
    else
        atomic_store_explicit(word, value, its);
}

/* Each thread stores a word, then loads the other's. */
static void store_then_load(uint32_t thread)
{
    store(thread ? &world.y : &world.x, 1, order);
    world.found[thread] = atomic_load_explicit(thread ? &world.x : &world.y, memory_order_acquire);
}

/* One stores two words, the other loads them the other way round. */
static void pass_message(uint32_t thread)
{
    if (thread == 0) {
        atomic_store_explicit(&world.x, 1, memory_order_relaxed);
        store(&world.y, 1, order);
    } else {
        world.found[0] = atomic_load_explicit(&world.y, memory_order_acquire);
        world.found[1] = atomic_load_explicit(&world.x, memory_order_relaxed);
    }
}

/* Both add to one word. */
static void add(uint32_t thread)
{
    world.found[thread] = atomic_fetch_add_explicit(&world.x, 1, order);
}

/* The third knows of the first's store by way of the second. */
static void pass_on(uint32_t thread)
{
    if (thread == 0) {
        store(&world.x, 1, order);
    } else if (thread == 1) {
        if (atomic_load_explicit(&world.x, memory_order_acquire))
            atomic_store_explicit(&world.y, 1, memory_order_release);
    } else {
        world.found[0] = atomic_load_explicit(&world.y, memory_order_acquire);
        world.found[1] = atomic_load_explicit(&world.x, memory_order_relaxed);
    }
}

static void prepare(void)
{
}

static void judge(void)
{
    seen |= UINT64_C(1) << (2 * world.found[0] + world.found[1]);
}

enum { NEITHER = 1, SECOND = 2, FIRST = 4, BOTH = 8 };

static const struct {
    const char *name;
    void (*run)(uint32_t thread);
    uint32_t threads;
    memory_order order;
    bool by_exchange;
    uint64_t outcomes;
} cases[] = {
    {"a release store is passed by a load", store_then_load, 2, memory_order_release, false, NEITHER | SECOND | FIRST | BOTH},
    {"a sequentially consistent store is not", store_then_load, 2, memory_order_seq_cst, false, SECOND | FIRST | BOTH},
    {"nor is an exchange", store_then_load, 2, memory_order_acq_rel, true, SECOND | FIRST | BOTH},
    {"a relaxed store passes another", pass_message, 2, memory_order_relaxed, false, NEITHER | SECOND | FIRST | BOTH},
    {"a release store does not", pass_message, 2, memory_order_release, false, NEITHER | SECOND | BOTH},
    {"an exchange without release passes a store", pass_message, 2, memory_order_acquire, true, NEITHER | SECOND | FIRST | BOTH},
    {"an exchange with release does not", pass_message, 2, memory_order_release, true, NEITHER | SECOND | BOTH},
    {"nothing comes between an addition's load and store", add, 2, memory_order_relaxed, false, SECOND | FIRST},
    {"a store that one has seen all have seen", pass_on, 3, memory_order_relaxed, false, NEITHER | SECOND | BOTH},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        order = cases[i].order;
        by_exchange = cases[i].by_exchange;
        seen = 0;
        explore(&(explore_scenario){cases[i].name, cases[i].threads, &world, sizeof world, prepare, cases[i].run, judge});
        if (seen != cases[i].outcomes) {
            fprintf(stderr, "%s: found outcomes %llx, expected %llx\n", cases[i].name, (unsigned long long)seen,
                    (unsigned long long)cases[i].outcomes);
            return 1;
        }
        printf("%s: so\n", cases[i].name);
    }
}
