#include "cost.h"

#include <time.h>

#include "../../cbackend/src/cost.h"

enum { TRIES = 50, LOOPS_OF_A_TRY = 100000 };

uint32_t vp_operation_cost; /* loops */

static uint64_t burn(uint32_t loops, uint64_t word)
{
    while (loops--)
        word = (word ^ word >> 31) * UINT64_C(0x9e3779b97f4a7c15); /* which waits for the last one */
    return word;
}

void vp_operation_burn(void)
{
    static _Thread_local uint64_t word;
    word = burn(vp_operation_cost, word + 1);
}

static double ns_of_a_try(void)
{
    struct timespec begun, ended;
    static volatile uint64_t word;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    word = burn(LOOPS_OF_A_TRY, word + 1);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    return (double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec);
}

void cost_set(uint32_t ns)
{
    double best = ns_of_a_try();
    for (uint32_t i = 0; i < TRIES; i++) {
        double found = ns_of_a_try();
        best = found < best ? found : best;
    }
    vp_operation_cost = (uint32_t)(ns * LOOPS_OF_A_TRY / best + 0.5);
}
