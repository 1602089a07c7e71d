/* Making gates, and what anybody may ask of them. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, in blocked.h */

#include <stddef.h>

#include "blocked.h"
#include "claims.h"
#include "layout.h"
#include "note.h"
#include "order.h"
#include "progress.h"
#include "viper/arena.h"
#include "waking.h"

static uint64_t power_of_two(uint64_t at_least)
{
    uint64_t power = 1;
    while (power < at_least)
        power *= 2;
    return power;
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + VP_LINE - 1) / VP_LINE * VP_LINE;
}

/* The fixed part of a ring, for its layout alone. */
static vp_ring plan_ring(vp_gate_shape shape)
{
    vp_ring plan = {
        .slot_count = power_of_two(shape.slots),
        .tuple_count = power_of_two(shape.tuples),
        .byte_count = shape.payload_bytes ? power_of_two(vp_ring_bytes_taken(shape.payload_bytes)) : 0,
        .heads_at = sizeof(vp_ring),
    };
    plan.slots_at = plan.heads_at + shape.readers * sizeof(vp_head);
    plan.positions_at = rounded(plan.slots_at + plan.slot_count * sizeof(vp_slot));
    plan.bytes_at = rounded(plan.positions_at + plan.tuple_count * sizeof(vp_position));
    return plan;
}

static uint64_t ring_size(const vp_ring *plan)
{
    return rounded(plan->bytes_at + plan->byte_count);
}

static uint64_t rings_at(vp_gate_shape shape)
{
    return sizeof(vp_gate) + shape.readers * sizeof(vp_reader_words);
}

uint64_t vp_gate_size(vp_gate_shape shape)
{
    vp_ring plan = plan_ring(shape);
    return rings_at(shape) + shape.sources * ring_size(&plan);
}

static void format_ring(vp_ring *ring, const vp_ring *plan, uint64_t from_gate)
{
    ring->from_gate = from_gate;
    ring->slot_count = plan->slot_count;
    ring->tuple_count = plan->tuple_count;
    ring->byte_count = plan->byte_count;
    ring->heads_at = plan->heads_at;
    ring->slots_at = plan->slots_at;
    ring->positions_at = plan->positions_at;
    ring->bytes_at = plan->bytes_at;
    vp_note_write(&ring->producer, VP_LEAST);
    vp_progress_publish(&ring->progress, VP_LEAST);
    atomic_init(&ring->progress.last_ts, VP_TS_OF_PROGRESS);
}

vp_gate *vp_gate_format(void *arena, uint64_t offset, vp_gate_shape shape)
{
    vp_gate *gate = (vp_gate *)((char *)arena + offset);
    vp_ring plan = plan_ring(shape);
    gate->at = offset;
    gate->rings_at = rings_at(shape);
    gate->ring_size = ring_size(&plan);
    gate->source_count = shape.sources;
    gate->reader_count = shape.readers;
    gate->claims = shape.claims;
    for (uint32_t reader = 0; reader < shape.readers; reader++)
        atomic_init(&gate->readers[reader].holding, -1);
    for (uint32_t source = 0; source < shape.sources; source++)
        format_ring(vp_gate_ring_at(gate, source), &plan, gate->rings_at + source * gate->ring_size);
    gate->kind = VP_GATE_KIND;
    return gate;
}

/* Whether all of a gate lies in so many bytes. */
static bool lies_within(const vp_gate *gate, uint64_t bytes)
{
    uint64_t needed = sizeof(vp_gate) + gate->reader_count * sizeof(vp_reader_words);
    return needed <= gate->rings_at && gate->rings_at <= bytes && gate->source_count > 0 &&
           sizeof(vp_ring) <= gate->ring_size && gate->ring_size <= (bytes - gate->rings_at) / gate->source_count;
}

vp_gate *vp_gate_at(void *arena, uint64_t offset)
{
    uint64_t end = VP_LINE + ((const vp_arena *)arena)->used;
    if (offset % VP_LINE || offset > end || end - offset < sizeof(vp_gate))
        return NULL;
    vp_gate *gate = (vp_gate *)((char *)arena + offset);
    return gate->kind == VP_GATE_KIND && gate->at == offset && lies_within(gate, end - offset) ? gate : NULL;
}

uint32_t vp_gate_sources(const vp_gate *gate)
{
    return gate->source_count;
}

uint32_t vp_gate_readers(const vp_gate *gate)
{
    return gate->reader_count;
}

bool vp_gate_claims(const vp_gate *gate)
{
    return gate->claims;
}

vp_ring *vp_gate_ring(vp_gate *gate, uint32_t source)
{
    return vp_gate_ring_at(gate, source);
}

/* Relaxed, both: set before the tasks run. */
void vp_gate_set_source_bell(vp_gate *gate, uint32_t source, uint64_t bell)
{
    atomic_store_explicit(&vp_gate_ring_at(gate, source)->room.bell, bell, memory_order_relaxed);
}

void vp_gate_set_reader_bell(vp_gate *gate, uint32_t reader, uint64_t bell)
{
    atomic_store_explicit(&gate->readers[reader].bell, bell, memory_order_relaxed);
}

void vp_gate_expel_reader(vp_gate *gate, uint32_t reader)
{
    atomic_store_explicit(&gate->readers[reader].expelled, 1, memory_order_release);
    /* A source may have slept for the room that this makes. */
    for (uint32_t source = 0; source < gate->source_count; source++)
        vp_wake_source(vp_gate_ring_at(gate, source));
}

void vp_gate_rest_reader(vp_gate *gate, uint32_t reader, bool rests)
{
    if (rests)
        atomic_store(&gate->rests, 1);
    atomic_store(&gate->readers[reader].rests, rests);
    if (rests)
        vp_claim_tell(gate, reader); /* one of them may have to claim what this one no longer does */
}

/* Relaxed, here and below, where nothing else is said: each count is right by itself. */
vp_source_counts vp_gate_added(const vp_gate *gate, uint32_t source)
{
    const vp_producer_words *own = &vp_gate_ring_at(gate, source)->producer;
    return (vp_source_counts){
        .added_jumbos = atomic_load_explicit(&own->tail, memory_order_relaxed),
        .added_tuples = atomic_load_explicit(&own->tuples, memory_order_relaxed),
        .added_bytes = atomic_load_explicit(&own->bytes, memory_order_relaxed),
        .refused = atomic_load_explicit(&own->refused, memory_order_relaxed),
        .blocked_ns = vp_blocked_ns(own),
    };
}

vp_reader_counts vp_gate_delivered(const vp_gate *gate, uint32_t reader, uint32_t source)
{
    const vp_ring *ring = vp_gate_ring_at(gate, source);
    const vp_head *head = vp_ring_head(ring, reader);
    /* Acquire, and before what was added, of which it is a part. */
    uint64_t delivered = atomic_load_explicit(&head->delivered, memory_order_acquire);
    vp_reader_counts counts = {
        .delivered_tuples =
            gate->claims ? atomic_load_explicit(&head->claimed, memory_order_relaxed) : delivered,
        .runs = atomic_load_explicit(&head->runs, memory_order_relaxed),
    };
    uint64_t released = atomic_load_explicit(&head->head, memory_order_acquire);
    counts.waiting_jumbos = atomic_load_explicit(&ring->producer.tail, memory_order_relaxed) - released;
    counts.waiting_tuples = vp_waiting_tuples(ring, delivered);
    return counts;
}

uint64_t vp_gate_claims_of(const vp_gate *gate, uint32_t reader)
{
    return atomic_load_explicit(&gate->readers[reader].claims, memory_order_relaxed);
}

int64_t vp_gate_holding(const vp_gate *gate, uint32_t reader)
{
    return atomic_load_explicit(&gate->readers[reader].holding, memory_order_relaxed);
}
