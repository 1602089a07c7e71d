/* The ring: jumbo tuples on their way from one source to all readers of a gate, as their producer sees it.
 *
 * A jumbo tuple takes a slot, which says where its positions lie, how many they are, and where its
 * payload lies in the byte store. A payload that does not leave the process need not be there: whoever
 * calls keeps it under the slot's number until the readers have taken it. Handing over takes two steps,
 * so that the payload is in place before a reader can know of it:
 *
 *     slot = vp_ring_claim(...);  ... write the payload ...;  vp_ring_publish(ring);
 *
 * Beside the jumbo tuples, and exempt from the ring's bounds, a producer publishes its progress: a
 * position below which nothing more will come.
 *
 * All of this is for the one producer, or, once it is dead, for whoever acts in its place.
 */
#ifndef VIPER_RING_H
#define VIPER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/position.h"

typedef struct vp_ring vp_ring;

/* Why a jumbo tuple was not taken. */
enum {
    VP_FULL = -1,              /* later, when all readers have released some */
    VP_TOO_LARGE = -2,         /* never: it has more tuples than the ring */
    VP_EMPTY = -3,             /* it has none */
    VP_UNORDERED = -4,         /* a position lies below the one before it, or the first below the floor */
    VP_BEYOND_END = -5,        /* a position is the reserved END */
    VP_OUT_OF_BOUNDS = -6,     /* the positions are not that many */
    VP_PAYLOAD_TOO_LARGE = -7  /* never: its payload has more bytes than the byte store */
};

uint32_t vp_ring_slots(const vp_ring *ring);
uint32_t vp_ring_tuples(const vp_ring *ring);
uint64_t vp_ring_payload_bytes(const vp_ring *ring);

/* Whether a jumbo tuple would be taken now: 0, or why not. Counts a refusal where the ring is full. */
int vp_ring_admit(vp_ring *ring, const vp_positions *positions, uint64_t first, uint64_t count,
                  uint64_t payload_bytes);

/* Copies the positions of a jumbo tuple into the ring and sets bytes aside for its payload. Returns its
 * slot, or why not. Until it is published nobody sees it, and the next claim replaces it. */
int64_t vp_ring_claim(vp_ring *ring, const vp_positions *positions, uint64_t first, uint64_t count,
                      uint64_t payload_bytes);

/* Where the payload of a jumbo tuple lies, and its size, if `bytes` is not NULL: of one that was claimed, or
 * that a reader was given and has not released. */
void *vp_ring_payload(vp_ring *ring, uint32_t slot, uint64_t *bytes);

/* How many tuples the ring had before a jumbo tuple that a reader was given and has not released: its slot has had
 * others, of which none has the same number. */
uint64_t vp_ring_before(const vp_ring *ring, uint32_t slot);

/* Copies the payload of what was claimed last into its place. */
void vp_ring_write(vp_ring *ring, uint32_t slot, const void *payload);

/* Lets the readers see what was claimed last. False, and nothing done, if there is nothing: it has been
 * published, or the producer has promised since that nothing will come where it lies. */
bool vp_ring_publish(vp_ring *ring);

/* Whether there is room for that many tuples and bytes now. If not, the next release rings the
 * source's bell. */
bool vp_ring_room(vp_ring *ring, uint64_t count, uint64_t payload_bytes);

/* The smallest position that the producer may still add: END once it has closed. */
vp_position vp_ring_floor(const vp_ring *ring);

/* Publishes progress to many rings at once; END closes them. A position that lies below what a ring
 * knows already changes nothing. */
void vp_ring_heartbeat(vp_ring *const *rings, uint32_t count, vp_position position);

/* Until a producer says otherwise, event time is where its progress is. */
#define VP_TS_OF_PROGRESS INT64_MAX

/* Says how far event time came, before a heartbeat that no longer tells. What comes later may stand further on. */
void vp_ring_tell_last_ts(vp_ring *ring, int64_t last_ts);

/* Publishes END. Changes nothing once it is closed. */
void vp_ring_close(vp_ring *ring);

/* After the producer died anywhere: sets right what is only the producer's, for a successor, and wakes
 * the readers. What had been published stays so, what had only been claimed is gone. */
void vp_ring_recover(vp_ring *ring);

/* Marks the last tuple of what was claimed last, for a successor, which finds the mark although the tuple may be gone. */
void vp_ring_mark(vp_ring *ring, uint32_t slot, uint64_t mark);

/* What was published last, as the successor of its producer finds it. */
typedef struct {
    uint32_t slot;
    bool is_there;        /* whether its payload is; where all readers have released it, it may be written over */
    uint64_t mark;        /* 0: it was not marked, and nothing is known of it */
    vp_position position; /* of its last tuple, where that was marked */
} vp_last;

/* To be called before the successor adds anything. */
vp_last vp_ring_last(const vp_ring *ring);

/* The slot of the jumbo tuple that has the tuple of a number, counted over the ring's whole life, and its index there.
 * False if it is not in the ring. For whoever acts in the place of a dead reader that has not released it. */
bool vp_ring_find(const vp_ring *ring, uint64_t number, uint32_t *slot, uint32_t *index);

/* After the process of the producer and of all readers died, with the payloads that were in it alone, and
 * both were set right: the reader's successor gets nothing of what waits for it. Returns how many untracked
 * tuples that is. */
uint64_t vp_ring_drop(vp_ring *ring, uint32_t reader);

/* Lifts the positions that lie below a floor up to it; they do not descend. Returns how many those were, or
 * VP_NO_MEMORY. */
int64_t vp_positions_raise(vp_positions *positions, vp_position floor);

#endif
