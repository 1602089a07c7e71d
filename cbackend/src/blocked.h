/* For how long a source has been blocked: one word, so that anybody reads both parts of it whole.
 *
 * Not below zero, it is the time in all. Below zero, the source is blocked now, and the time in all is the
 * clock's and the word together: it grows while nobody writes it. The clock counts from before the source
 * was made, so what has to be told apart is.
 */
#ifndef VIPER_BLOCKED_H
#define VIPER_BLOCKED_H

#include <time.h>

#include "layout.h"

static inline int64_t vp_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Relaxed, here and below: a count, which nothing else depends on. */
static inline int64_t vp_blocked_word(const vp_producer_words *own)
{
    return atomic_load_explicit(&own->blocked, memory_order_relaxed);
}

static inline uint64_t vp_blocked_ns(const vp_producer_words *own)
{
    int64_t word = vp_blocked_word(own);
    return (uint64_t)(word < 0 ? vp_now_ns() + word : word);
}

/* For the producer, or whoever acts in its place. Changes nothing while it is blocked. */
static inline void vp_blocked_begin(vp_producer_words *own)
{
    int64_t word = vp_blocked_word(own);
    if (word >= 0)
        atomic_store_explicit(&own->blocked, word - vp_now_ns(), memory_order_relaxed);
}

/* Likewise. Changes nothing while it is not blocked. */
static inline void vp_blocked_end(vp_producer_words *own)
{
    if (vp_blocked_word(own) < 0)
        atomic_store_explicit(&own->blocked, (int64_t)vp_blocked_ns(own), memory_order_relaxed);
}

#endif
