/* How the gate lies in its region, and how its parts refer to each other: by index, never by address.
 *
 *     | sl_gate | sources | seen turns | rests | done words | passes | nodes | pools | slots | positions |
 *
 * Numbers. A source counts its items, tuples and marks, from 0, its opening mark; 48 bits last for
 *     years. Its jumbo tuples are counted too. Numbers are never reset; the place of what they name is
 *     given by their lowest bits.
 * Pools. Each source takes nodes from a pool of its own; see pool.c.
 * Padding. Words that different tasks write are 128 bytes apart: processors fetch lines in pairs.
 */
#ifndef SCALEGATE_LAYOUT_H
#define SCALEGATE_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "skiplist.h"

enum { SL_LINE = 128, SL_UPPER = 3, SL_NUMBER_BITS = 48 };

/* A node in one of its lives: how often its place was used by then << 32 | index. 0: none. */
typedef uint64_t sl_reference;

/* A node of a given source: number of its first item, cut to 32 bits << 32 | index. */
typedef uint64_t sl_place;

/* A position without its tree, which takes no part in the order: a node has no room for it. */
typedef struct {
    int64_t ts;
    uint64_t hi, lo;
} sl_spot;

/* A cache line. Everything but the links is written before the node is linked, and never again. */
typedef struct {
    _Atomic uint64_t link; /* tuples of the run << 32 | index of the next node; the two change at once */
    sl_spot first;         /* of the run, or what a mark promises */
    uint64_t tie;          /* source << 48 | number of the first item */
    _Atomic uint64_t up[SL_UPPER]; /* references to the next nodes of the levels above */
} sl_node;

typedef struct {
    uint64_t first; /* number of its first item */
    uint32_t count;
} sl_slot;

typedef struct {
    alignas(SL_LINE) _Atomic uint64_t written; /* items published */
    alignas(SL_LINE) _Atomic uint64_t turn;    /* odd while the source walks the list */
    _Atomic uint64_t last;                     /* the node that holds its last item: an sl_place, see run.c */
    /* The rest is read by the source alone. */
    alignas(SL_LINE) uint64_t items, slots; /* next numbers */
    uint64_t items_taken, slots_taken;      /* below these numbers, all readers are done */
    vp_position floor;
    uint64_t random;
    sl_reference hints[SL_UPPER];
    uint32_t finger; /* index of a node behind its last item and before the next one */
    uint32_t claimed;
    bool has_cut;    /* whether there are rests to report */
} sl_source;

/* The places of a source's nodes. Read by the source alone, as are the arrays behind it. */
typedef struct {
    alignas(SL_LINE) uint32_t free, retired, used, oldest; /* oldest: where the queue of used places begins */
    uint64_t taken;                                        /* so far */
    uint32_t places[]; /* four arrays: free, retired, queue of used ones; how often each was used */
} sl_pool;

/* What one reader tells one source. */
typedef struct {
    alignas(SL_LINE) _Atomic uint64_t items; /* delivered */
} sl_done;

struct sl_gate {
    uint32_t source_count, reader_count;
    uint32_t first; /* index of the list's first node, when it was made */
    uint64_t slot_count, tuple_count, node_count; /* of one source; powers of two */
    uint64_t pool_bytes, passes_bytes; /* of one source, of one reader */
    /* Bytes from the start. */
    uint64_t sources_at, turns_at, rests_at, done_at, passes_at, nodes_at, pools_at, slots_at, positions_at;
};

_Static_assert(sizeof(sl_node) == 64, "a node is one cache line");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics must need no lock: a lock cannot be shared");

/* The anchor of the upper levels; never in the list itself, so that index 0 is also nothing. */
enum { SL_HEAD = 0 };

static inline sl_spot sl_spot_of(vp_position position)
{
    return (sl_spot){position.ts, position.hi, position.lo};
}

static inline vp_position sl_position_at(sl_spot spot)
{
    return (vp_position){spot.ts, spot.hi, spot.lo, 0};
}

static inline void *sl_at(const sl_gate *gate, uint64_t offset)
{
    return (char *)gate + offset;
}

static inline sl_source *sl_source_of(const sl_gate *gate, uint32_t source)
{
    return (sl_source *)sl_at(gate, gate->sources_at) + source;
}

static inline sl_done *sl_done_of(const sl_gate *gate, uint32_t reader, uint32_t source)
{
    return (sl_done *)sl_at(gate, gate->done_at) + (uint64_t)reader * gate->source_count + source;
}

static inline sl_node *sl_node_at(const sl_gate *gate, uint32_t index)
{
    return (sl_node *)sl_at(gate, gate->nodes_at) + index;
}

static inline sl_slot *sl_slot_of(const sl_gate *gate, uint32_t source, uint64_t number)
{
    return (sl_slot *)sl_at(gate, gate->slots_at) + source * gate->slot_count + (number & (gate->slot_count - 1));
}

static inline vp_position *sl_position_of(const sl_gate *gate, uint32_t source, uint64_t item)
{
    vp_position *positions = sl_at(gate, gate->positions_at);
    return positions + source * gate->tuple_count + (item & (gate->tuple_count - 1));
}

/* How often a reader passed each node. */
static inline _Atomic uint32_t *sl_passes_of(const sl_gate *gate, uint32_t reader)
{
    return sl_at(gate, gate->passes_at + reader * gate->passes_bytes);
}

static inline sl_pool *sl_pool_of(const sl_gate *gate, uint32_t source)
{
    return sl_at(gate, gate->pools_at + source * gate->pool_bytes);
}

static inline uint32_t *sl_free_at(const sl_gate *gate, uint32_t source, uint32_t place)
{
    return sl_pool_of(gate, source)->places + place;
}

static inline uint32_t *sl_retired_at(const sl_gate *gate, uint32_t source, uint32_t place)
{
    return sl_pool_of(gate, source)->places + gate->node_count + place;
}

static inline uint32_t *sl_queue_at(const sl_gate *gate, uint32_t source, uint32_t place)
{
    return sl_pool_of(gate, source)->places + 2 * gate->node_count + (place & (gate->node_count - 1));
}

/* How often the owner used a node's place. */
static inline uint32_t *sl_use_of(const sl_gate *gate, uint32_t index)
{
    uint64_t source = (index - 1) / gate->node_count, place = (index - 1) % gate->node_count;
    return sl_pool_of(gate, (uint32_t)source)->places + 3 * gate->node_count + place;
}

static inline uint64_t sl_link(uint32_t count, uint32_t next)
{
    return (uint64_t)count << 32 | next;
}

static inline uint32_t sl_link_count(uint64_t link)
{
    return (uint32_t)(link >> 32);
}

static inline uint32_t sl_link_next(uint64_t link)
{
    return (uint32_t)link;
}

static inline uint32_t sl_tie_source(uint64_t tie)
{
    return (uint32_t)(tie >> SL_NUMBER_BITS);
}

static inline uint64_t sl_tie_number(uint64_t tie)
{
    return tie & ((UINT64_C(1) << SL_NUMBER_BITS) - 1);
}

static inline uint64_t sl_tie(uint32_t source, uint64_t number)
{
    return (uint64_t)source << SL_NUMBER_BITS | number;
}

/* The number behind a node's last item; a mark is an item without tuples. */
static inline uint64_t sl_node_end(const sl_node *node, uint32_t count)
{
    return sl_tie_number(node->tie) + (count > 0 ? count : 1);
}

#endif
