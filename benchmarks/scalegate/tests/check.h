/* A check that no build option removes and that names the seed, and a fixed sequence of random numbers. */
#ifndef SCALEGATE_CHECK_H
#define SCALEGATE_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Of what runs now. */
extern uint64_t check_seed;

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: seed %d: not so: %s\n", __FILE__, __LINE__, (int)check_seed, #condition); \
            abort();                                                            \
        }                                                                       \
    } while (0)

#define CHECK_EQUAL(found, expected)                                                                         \
    do {                                                                                                     \
        long long found_ = (long long)(found), expected_ = (long long)(expected);                            \
        if (found_ != expected_) {                                                                           \
            fprintf(stderr, "%s:%d: seed %d: %s is %lld, expected %lld\n", __FILE__, __LINE__, (int)check_seed, \
                    #found, found_, expected_);                                                             \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

static inline uint32_t random_below(uint64_t *state, uint32_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % bound;
}

#endif
