/* The project's own sources in one unit, as model checkers want it, and a gate in static memory. */
#ifndef VIPER_LITMUS_ONE_UNIT_H
#define VIPER_LITMUS_ONE_UNIT_H

#include <string.h>
#include <time.h>

/* For how long a source was blocked is nothing to a scenario, and a clock is nothing for a model checker. */
#define clock_gettime(clock, now) ((void)(*(now) = (struct timespec){.tv_sec = 1}))

#include "progress.c"
#include "bits.c"
#include "array.c"
#include "line.c"
#include "position.c"
#ifdef WEAKER_RING
#include "weaker.h"
#endif
#include "ring.c"
#include "stronger.h"
#ifdef WEAKER_READER
#include "weaker.h"
#endif
#include "reader.c"
#include "stronger.h"
#include "bell.c"
#include "gate.c"

/* A gate, and behind it a bell for the scenario that needs one. */
enum { BELL_AT = 4096 };
static alignas(VP_LINE) char region[BELL_AT + sizeof(vp_bell)];

static inline vp_gate *new_gate(vp_gate_shape shape)
{
    assert(vp_gate_size(shape) <= BELL_AT);
    if (ROUNDS > 1)
        memset(region, 0, sizeof region);
    return vp_gate_format(region, 0, shape);
}

static inline vp_position at(int64_t ts)
{
    return (vp_position){ts, (uint64_t)ts, (uint64_t)ts, 0};
}

/* Adds a jumbo tuple of one tuple with a payload that says its timestamp; what the claim returned. */
static inline int64_t add_one(vp_ring *ring, int64_t ts)
{
    vp_position position = at(ts);
    int64_t slot = vp_ring_claim(ring, &(vp_positions){.data = &position, .length = 1, .capacity = 1}, 0, 1, sizeof ts);
    if (slot < 0)
        return slot;
    memcpy(vp_ring_payload(ring, (uint32_t)slot, NULL), &ts, sizeof ts);
    vp_ring_publish(ring);
    return slot;
}

/* The payload of the jumbo tuple that a reader stands in. */
static inline int64_t payload_of(const vp_reader *reader)
{
    int64_t ts;
    uint32_t slot = (uint32_t)(reader->slot & (reader->ring->slot_count - 1));
    memcpy(&ts, vp_ring_payload(reader->ring, slot, NULL), sizeof ts);
    return ts;
}

/* Whether a tuple waits, having looked once if none was known. */
static inline bool tuple_waits(vp_reader *reader)
{
    return vp_reader_has_tuple(reader) || (vp_reader_refresh(reader) && vp_reader_has_tuple(reader));
}

#endif
