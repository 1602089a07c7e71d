/* Ringing the bells that a gate knows. */
#ifndef VIPER_WAKING_H
#define VIPER_WAKING_H

#include "layout.h"

static inline void vp_wake_offset(const vp_gate *gate, const _Atomic uint64_t *bell)
{
    /* Relaxed: a bell is set before its task runs. */
    uint64_t offset = atomic_load_explicit(bell, memory_order_relaxed);
    if (offset)
        vp_bell_ring(vp_gate_bell(gate, offset));
}

/* The bells that one call has to ring, each once; those that find no place are rung at once. It starts with a
 * count of 0. */
typedef struct {
    vp_bell *bells[16];
    uint32_t count;
} vp_due;

static inline void vp_due_bell(vp_due *due, vp_bell *bell)
{
    for (uint32_t i = 0; i < due->count; i++)
        if (due->bells[i] == bell)
            return;
    if (due->count < sizeof due->bells / sizeof *due->bells)
        due->bells[due->count++] = bell;
    else
        vp_bell_ring(bell);
}

static inline void vp_due_readers(vp_due *due, const vp_ring *ring)
{
    const vp_gate *gate = vp_ring_gate(ring);
    for (uint32_t reader = 0; reader < gate->reader_count; reader++) {
        /* Relaxed: a bell is set before its task runs. */
        uint64_t offset = atomic_load_explicit(&gate->readers[reader].bell, memory_order_relaxed);
        if (offset)
            vp_due_bell(due, vp_gate_bell(gate, offset));
    }
}

static inline void vp_due_ring(const vp_due *due)
{
    for (uint32_t i = 0; i < due->count; i++)
        vp_bell_ring(due->bells[i]);
}

/* Tells the readers that something was published. */
static inline void vp_wake_readers(const vp_ring *ring)
{
    vp_due due = {.count = 0};
    vp_due_readers(&due, ring);
    vp_due_ring(&due);
}

/* Tells a source that something was released. */
static inline void vp_wake_source(const vp_ring *ring)
{
    vp_wake_offset(vp_ring_gate(ring), &ring->room.bell);
}

#endif
