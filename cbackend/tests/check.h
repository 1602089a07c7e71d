/* The tests' harness: a check that no build option removes, and gates in memory of their own. */
#ifndef VIPER_CHECK_H
#define VIPER_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "layout.h"
#include "order.h"
#include "viper/gate.h"
#include "viper/merge.h"

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

#define CHECK_EQUAL(found, expected)                                                                         \
    do {                                                                                                     \
        long long found_ = (long long)(found), expected_ = (long long)(expected);                            \
        if (found_ != expected_) {                                                                           \
            fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #found, found_, expected_); \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#ifdef VP_CRASH_POINTS
/* What a test does at the named points of the sources. */
static void (*at_point)(const char *name);

void vp_crash_point(const char *name);

void vp_crash_point(const char *name)
{
    if (at_point)
        at_point(name);
}
#endif

static inline vp_position at(int64_t ts)
{
    return (vp_position){ts, 0, 0, 0};
}

/* A gate in a block of exactly its size, so that the sanitizers see a step beyond it; to be freed. */
static inline vp_gate *new_gate(vp_gate_shape shape)
{
    size_t size = vp_gate_size(shape);
    void *region = NULL;
    CHECK(posix_memalign(&region, VP_LINE, size) == 0);
    for (size_t i = 0; i < size; i++)
        ((char *)region)[i] = 0;
    return vp_gate_format(region, 0, shape);
}

/* The only ring of a gate of its own, for one reader. */
static inline vp_ring *new_ring(uint32_t slots, uint32_t tuples)
{
    return vp_gate_ring(new_gate((vp_gate_shape){1, 1, slots, tuples, 0, false}), 0);
}

static inline void free_ring(vp_ring *ring)
{
    free(vp_ring_gate(ring));
}

/* As if that many jumbo tuples, of one tuple each, had passed already. */
static inline void fast_forward(vp_ring *ring, uint64_t passed)
{
    atomic_store(&ring->producer.tail, passed);
    for (uint32_t reader = 0; reader < vp_ring_gate(ring)->reader_count; reader++)
        atomic_store(&vp_ring_head(ring, reader)->head, passed);
    ring->producer.next = ring->producer.next_byte = passed & ~UINT64_C(7);
}

/* A fixed sequence of random numbers. */
static inline uint32_t random_below(uint64_t *state, uint32_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % bound;
}

/* A payload that differs from those of other seeds in its last byte already. */
static inline void fill(uint8_t *bytes, uint64_t size, uint64_t seed)
{
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(seed * 31 + (size - i) * 7);
}

static inline bool is_filled(const uint8_t *bytes, uint64_t size, uint64_t seed)
{
    for (uint64_t i = 0; i < size; i++)
        if (bytes[i] != (uint8_t)(seed * 31 + (size - i) * 7))
            return false;
    return true;
}

/* Claims and publishes tuples at ts, ts + 1, ... with so many bytes, filled with ts; returns what the
 * claim returned. */
static inline int64_t add_with(vp_ring *ring, int64_t ts, uint32_t count, uint64_t bytes)
{
    vp_position data[64];
    for (uint32_t i = 0; i < count; i++)
        data[i] = at(ts + i);
    int64_t slot = vp_ring_claim(ring, &(vp_positions){.data = data, .length = count, .capacity = count}, 0, count, bytes);
    if (slot < 0)
        return slot;
    fill(vp_ring_payload(ring, (uint32_t)slot, NULL), bytes, (uint64_t)ts);
    vp_ring_publish(ring);
    return slot;
}

static inline int64_t add(vp_ring *ring, int64_t ts, uint32_t count)
{
    return add_with(ring, ts, count, 0);
}

static inline void heartbeat(vp_ring *ring, vp_position position)
{
    vp_ring_heartbeat(&ring, 1, position);
}

#endif
