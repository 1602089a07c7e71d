/* All interleavings of a few threads over the atomic operations of sources, which are compiled with this before them.
 *
 * The threads are coroutines of one thread, so nothing depends on the machine or its load. A state is what the words of
 * the scenario hold, the stores that wait, and what each thread has read; one that was met before is not gone on from.
 *
 * Memory is weaker than that of x86. A store waits in a buffer of its thread, and may be passed there by later loads and
 * by later stores to other words. A release store waits for all stores before it. A sequentially consistent store, and an
 * exchange, an addition or a comparison with release, leaves no store waiting. Loads do not pass each other; in their
 * place, accesses to words that are declared as data are compared by happens-before, so that a missing acquire or release
 * shows as a race.
 */
#ifndef REORDERING_EXPLORE_H
#define REORDERING_EXPLORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPLORE_THREADS = 3 };

typedef struct {
    const char *name;
    uint32_t threads;
    void *world; /* all memory that the threads share; zeroed before each execution */
    size_t bytes;
    void (*prepare)(void); /* what holds before the threads start */
    void (*run)(uint32_t thread);
    void (*judge)(void); /* what must hold once all have ended */
} explore_scenario;

typedef struct {
    uint64_t states, executions; /* executions that came to their end */
} explored;

explored explore(const explore_scenario *scenario);

/* To be said in `prepare`: two accesses to this word, one of which is a store, must be ordered by happens-before. */
void explore_data(const _Atomic uint64_t *word);

/* A place where others may run. */
void explore_step(void);

/* Waits until a word holds another value; others run meanwhile. */
void explore_await_other_than(const _Atomic uint64_t *word, uint64_t value);

/* Ends the program with the operations that led here, if a condition does not hold. */
#define EXPLORE_CHECK(condition) \
    do {                         \
        if (!(condition))        \
            explore_fail(__FILE__, __LINE__, #condition); \
    } while (0)
_Noreturn void explore_fail(const char *file, int line, const char *condition);

uint64_t explore_load(const _Atomic uint64_t *word, memory_order order);
void explore_store(_Atomic uint64_t *word, uint64_t value, memory_order order);
uint64_t explore_exchange(_Atomic uint64_t *word, uint64_t value, memory_order order);
uint64_t explore_add(_Atomic uint64_t *word, uint64_t value, memory_order order);
bool explore_compare_exchange(_Atomic uint64_t *word, uint64_t *expected, uint64_t value, memory_order success,
                              memory_order failure);

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_compare_exchange_strong_explicit
#define atomic_load_explicit explore_load
#define atomic_store_explicit explore_store
#define atomic_exchange_explicit explore_exchange
#define atomic_fetch_add_explicit explore_add
#define atomic_fetch_sub_explicit(word, value, order) explore_add(word, -(uint64_t)(value), order)
#define atomic_compare_exchange_strong_explicit explore_compare_exchange

#endif
