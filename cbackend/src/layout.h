/* How a gate lies in its region. Everything here is part of the arena's layout signature.
 *
 *     | vp_gate | readers' words ... | ring of source 0 | ring of source 1 | ...
 *     ring: | fixed | producer's words | progress | room | heads ... | slots ... | positions ... | bytes ... |
 *
 * Words that different tasks write are 128 bytes apart: processors fetch cache lines in pairs, and a
 * line that two cores write moves between them at each write.
 */
#ifndef VIPER_LAYOUT_H
#define VIPER_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "viper/bell.h"
#include "viper/gate.h"
#include "viper/position.h"
#include "viper/ring.h"

enum { VP_LINE = 128 };

#define VP_GATE_KIND UINT64_C(0x5650474154453031)

struct vp_bell {
    alignas(VP_LINE) _Atomic uint32_t sequence; /* times rung */
    _Atomic uint32_t sleepers;
};

/* A jumbo tuple's header. Numbers count positions and bytes over the ring's whole life. */
typedef struct {
    uint64_t first;      /* number of its first position */
    uint64_t first_byte; /* number of its payload's first byte */
    uint64_t bytes;      /* of the payload */
    uint64_t before;     /* tuples published before it */
    uint32_t count;      /* of positions */
    uint32_t on_line;    /* whether its cells hold a line, see line.h */
    uint64_t mark;       /* what the producer has marked its last tuple with; 0: nothing */
    int64_t ts;          /* the position of that tuple, where it is marked */
    uint64_t hi, lo;
} vp_slot;

/* Conflated: only the latest position counts. See progress.h. */
typedef struct {
    _Atomic uint64_t version; /* odd while a position is being written */
    _Atomic int64_t ts;
    _Atomic uint64_t hi, lo;
    _Atomic int64_t last_ts; /* VP_TS_OF_PROGRESS; written before a progress that is further on */
} vp_progress;

/* What a successor of the producer needs to know. See note.h. */
typedef struct {
    _Atomic uint64_t tail, tuples, bytes; /* as published when it was written */
    _Atomic int64_t ts;                   /* the floor */
    _Atomic uint64_t hi, lo;
} vp_note;

/* Written by the producer only. What is not atomic is read by it alone, and made anew by recover.c. */
typedef struct {
    _Atomic uint64_t tail;                                 /* jumbo tuples published */
    _Atomic uint64_t tuples, bytes, refused;               /* for statistics */
    _Atomic int64_t blocked;  /* likewise; see blocked.h */
    uint64_t next, next_byte; /* numbers that the next position and byte get, if they fit there */
    uint64_t claimed;         /* whether the slot at tail may be published */
    _Atomic uint64_t turn;    /* notes written; the latest is notes[turn % 2] */
    vp_note notes[2];
} vp_producer_words;

/* Seldom written: whether the source found the ring full, and whom to wake then. */
typedef struct {
    _Atomic uint32_t wanting;
    _Atomic uint64_t bell; /* offset in the arena, 0: none */
} vp_room_words;

/* Written by one reader only. */
typedef struct {
    alignas(VP_LINE) _Atomic uint64_t head; /* jumbo tuples released */
    _Atomic uint64_t delivered, runs;       /* for statistics; a dead reader's delivered says where it was */
    _Atomic uint64_t claimed; /* for statistics: those of delivered that it has claimed, where readers do */
    _Atomic uint64_t taken; /* written while there is no reader: tuples at head that its successor skips */
} vp_head;

struct vp_ring {
    uint64_t from_gate;                           /* bytes from the gate's start to the ring's */
    uint64_t slot_count, tuple_count, byte_count; /* powers of two; byte_count may be 0 */
    uint64_t heads_at, slots_at, positions_at, bytes_at; /* bytes from the ring's start */
    alignas(VP_LINE) vp_producer_words producer;
    alignas(VP_LINE) vp_progress progress;
    alignas(VP_LINE) vp_room_words room;
};

typedef struct {
    alignas(VP_LINE) _Atomic uint64_t bell; /* offset in the arena, 0: none */
    _Atomic uint32_t expelled;
    _Atomic uint32_t rests; /* whether it claims nothing for now, and is to be told of each claim */
    alignas(VP_LINE) _Atomic int64_t holding; /* written by the reader */
    _Atomic uint64_t working; /* likewise: untracked tuples that it was delivered and has not finished */
    alignas(VP_LINE) _Atomic uint64_t claim; /* where its last claim begins, or one that it did not get; see claims.h */
    _Atomic uint64_t claim_end; /* where the last that it got ends; written by whoever claims next, too */
    _Atomic uint64_t seen;      /* all of its claims before this have been delivered to it */
    _Atomic uint64_t claims;    /* that it has got, for statistics; written by the reader */
} vp_reader_words;

struct vp_gate {
    uint64_t kind;
    uint64_t at;                  /* bytes from the arena's start */
    uint64_t rings_at, ring_size; /* bytes from the gate's start to the first ring, and from ring to ring */
    uint32_t source_count, reader_count;
    uint32_t claims;                         /* whether each tuple goes to one reader only */
    _Atomic uint32_t rests;                  /* whether any reader has ever rested */
    alignas(VP_LINE) _Atomic uint64_t claimed; /* where the last claim ends, and whose it is: see claims.h */
    vp_reader_words readers[];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics must need no lock: a lock cannot be shared");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "32-bit atomics must need no lock: a lock cannot be shared");

/* Numbers count on for ever, through 2^64; their places are their lowest bits. */
static inline vp_slot *vp_ring_slot(const vp_ring *ring, uint64_t number)
{
    return (vp_slot *)((char *)ring + ring->slots_at) + (number & (ring->slot_count - 1));
}

static inline vp_position *vp_ring_position(const vp_ring *ring, uint64_t number)
{
    return (vp_position *)((char *)ring + ring->positions_at) + (number & (ring->tuple_count - 1));
}

static inline vp_head *vp_ring_head(const vp_ring *ring, uint32_t reader)
{
    return (vp_head *)((char *)ring + ring->heads_at) + reader;
}

static inline vp_gate *vp_ring_gate(const vp_ring *ring)
{
    return (vp_gate *)((char *)ring - ring->from_gate);
}

static inline vp_ring *vp_gate_ring_at(const vp_gate *gate, uint32_t source)
{
    return (vp_ring *)((char *)gate + gate->rings_at + source * gate->ring_size);
}

/* Payloads begin at multiples of 8 in the byte store. */
static inline uint64_t vp_ring_bytes_taken(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

/* The head of the reader that is furthest behind: jumbo tuples before it are released by all. Tail if
 * there is none. Seq_cst for the handshake of D0 to D3, see ring.c; elsewhere acquire would do. */
static inline uint64_t vp_ring_slowest(const vp_ring *ring, uint64_t tail)
{
    const vp_gate *gate = vp_ring_gate(ring);
    uint64_t behind = 0;
    for (uint32_t reader = 0; reader < gate->reader_count; reader++) {
        if (atomic_load_explicit(&gate->readers[reader].expelled, memory_order_acquire))
            continue;
        uint64_t head = atomic_load_explicit(&vp_ring_head(ring, reader)->head, memory_order_seq_cst); /* A1 <- R1, D1 */
        behind = tail - head > behind ? tail - head : behind;
    }
    return tail - behind;
}

/* Tuples that a reader has not been delivered. Relaxed: a count. */
static inline uint64_t vp_waiting_tuples(const vp_ring *ring, uint64_t delivered)
{
    uint64_t added = atomic_load_explicit(&ring->producer.tuples, memory_order_relaxed);
    return added - delivered <= INT64_MAX ? added - delivered : 0;
}

/* The bell at an offset in the gate's arena, which is not 0. */
static inline vp_bell *vp_gate_bell(const vp_gate *gate, uint64_t offset)
{
    return (vp_bell *)((char *)gate - gate->at + offset);
}

#endif
