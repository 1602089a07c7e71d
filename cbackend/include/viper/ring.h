/* The ring: jumbo tuples on their way from one task to one other, as their producer sees it.
 *
 * A jumbo tuple takes a slot, which says where its positions lie and how many they are. Its payload
 * is not here: whoever calls keeps it under the slot's number until the consumer has taken it.
 * Handing over takes two steps, so that the payload is in place before the consumer can know of it:
 *
 *     slot = vp_ring_claim(...);  payloads[slot] = payload;  vp_ring_publish(ring);
 *
 * Beside the jumbo tuples, and exempt from the ring's bounds, a producer publishes its progress: a
 * position below which nothing more will come.
 *
 * vp_ring_statistics may be called by anybody, the rest only by the one producer.
 */
#ifndef VIPER_RING_H
#define VIPER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/position.h"

typedef struct vp_ring vp_ring;

/* Why a jumbo tuple was not taken. */
enum {
    VP_FULL = -1,         /* later, when the consumer has released some */
    VP_TOO_LARGE = -2,    /* never: it has more tuples than the ring */
    VP_EMPTY = -3,        /* it has none */
    VP_UNORDERED = -4,    /* a position lies below the one before it, or the first below the floor */
    VP_BEYOND_END = -5,   /* a position is the reserved END */
    VP_OUT_OF_BOUNDS = -6 /* the positions are not that many */
};

typedef struct {
    uint64_t added_jumbos, added_tuples; /* published so far */
    uint64_t refused;                    /* claims that found the ring full */
    uint64_t released_jumbos;            /* given back by the consumer */
} vp_ring_counts;

/* Bytes that a ring takes. Slots and tuples are rounded up to powers of two, up to 2^31. */
uint64_t vp_ring_size(uint32_t slots, uint32_t tuples);

/* Makes a ring out of zeroed memory that is aligned to 128 bytes. */
vp_ring *vp_ring_format(void *region, uint32_t slots, uint32_t tuples);

uint32_t vp_ring_slots(const vp_ring *ring);
uint32_t vp_ring_tuples(const vp_ring *ring);

/* Copies the positions of a jumbo tuple into the ring. Returns its slot, or why not. Until it is
 * published nobody sees it, and the next claim replaces it. */
int64_t vp_ring_claim(vp_ring *ring, const vp_positions *positions, uint64_t first, uint32_t count);

/* Lets the consumer see what was claimed last. */
void vp_ring_publish(vp_ring *ring);

/* Whether a claim of that many tuples would find room now. */
bool vp_ring_room(vp_ring *ring, uint32_t count);

/* The smallest position that the producer may still add: END once it has closed. */
vp_position vp_ring_floor(const vp_ring *ring);

/* Publishes progress to many rings at once; END closes them. A position that lies below what a ring
 * knows already changes nothing. */
void vp_ring_heartbeat(vp_ring *const *rings, uint32_t count, vp_position position);

vp_ring_counts vp_ring_statistics(const vp_ring *ring);

#endif
