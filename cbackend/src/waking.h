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

/* Tells the readers that something was published. */
static inline void vp_wake_readers(const vp_ring *ring)
{
    const vp_gate *gate = vp_ring_gate(ring);
    for (uint32_t reader = 0; reader < gate->reader_count; reader++)
        vp_wake_offset(gate, &gate->readers[reader].bell);
}

/* Tells a source that something was released. */
static inline void vp_wake_source(const vp_ring *ring)
{
    vp_wake_offset(vp_ring_gate(ring), &ring->room.bell);
}

#endif
