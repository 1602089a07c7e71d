/* How a ring lies in its region. Everything here is part of the arena's layout signature.
 *
 *     | vp_ring: fixed | producer's words | progress | consumer's word | slots ... | positions ... |
 *
 * Words that different tasks write are 128 bytes apart: processors fetch cache lines in pairs, and a
 * line that two cores write moves between them at each write.
 */
#ifndef VIPER_LAYOUT_H
#define VIPER_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "viper/position.h"
#include "viper/ring.h"

enum { VP_LINE = 128 };

/* A jumbo tuple's header. */
typedef struct {
    uint64_t first; /* number of its first position, counted over the ring's whole life */
    uint32_t count;
} vp_slot;

/* Conflated: only the latest position counts. See progress.h. */
typedef struct {
    _Atomic uint64_t version; /* odd while a position is being written */
    _Atomic int64_t ts;
    _Atomic uint64_t hi, lo;
} vp_progress;

/* Written by the producer only. What is not atomic is read by it alone. */
typedef struct {
    _Atomic uint64_t tail;   /* jumbo tuples published */
    _Atomic uint64_t tuples; /* tuples published */
    _Atomic uint64_t refused;
    uint64_t next;      /* number that the next position gets, if it fits there */
    uint64_t head_seen; /* the consumer's head as last looked at */
    vp_position floor;
} vp_producer_words;

typedef struct {
    _Atomic uint64_t head; /* jumbo tuples released */
} vp_consumer_words;

struct vp_ring {
    uint64_t slot_count, tuple_count; /* powers of two */
    uint64_t slots_at, positions_at;  /* bytes from the ring's start */
    alignas(VP_LINE) vp_producer_words producer;
    alignas(VP_LINE) vp_progress progress;
    alignas(VP_LINE) vp_consumer_words consumer;
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics must need no lock: a lock cannot be shared");

/* Numbers count on for ever, through 2^64; their places are their lowest bits. */
static inline vp_slot *vp_ring_slot(const vp_ring *ring, uint64_t number)
{
    return (vp_slot *)((char *)ring + ring->slots_at) + (number & (ring->slot_count - 1));
}

static inline vp_position *vp_ring_position(const vp_ring *ring, uint64_t number)
{
    return (vp_position *)((char *)ring + ring->positions_at) + (number & (ring->tuple_count - 1));
}

#endif
