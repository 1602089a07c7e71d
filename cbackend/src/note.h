/* The note: what a successor of the producer cannot find out from slots and progress alone.
 *
 * Roles.       Written and read by the producer, or, once it is dead, by whoever acts in its place.
 * Torn writes. There are two, written in turn: the one that turn names is whole wherever the producer
 *              died. Every word is released, so that no compiler moves one across turn, or across the
 *              progress and the tail that stand before it in the program.
 */
#ifndef VIPER_NOTE_H
#define VIPER_NOTE_H

#include "layout.h"

static inline vp_note *vp_note_latest(const vp_producer_words *own)
{
    /* Relaxed: the producer's own word. */
    return (vp_note *)&own->notes[atomic_load_explicit(&own->turn, memory_order_relaxed) % 2];
}

/* The smallest position that the producer may still add. */
static inline vp_position vp_note_floor(const vp_producer_words *own)
{
    /* Relaxed: the producer's own words. */
    const vp_note *note = vp_note_latest(own);
    return (vp_position){
        atomic_load_explicit(&note->ts, memory_order_relaxed),
        atomic_load_explicit(&note->hi, memory_order_relaxed),
        atomic_load_explicit(&note->lo, memory_order_relaxed),
        0,
    };
}

/* Notes the floor, with what has been published till now. */
static inline void vp_note_write(vp_producer_words *own, vp_position floor)
{
    /* Relaxed, all loads: the producer's own words. */
    uint64_t turn = atomic_load_explicit(&own->turn, memory_order_relaxed) + 1;
    vp_note *note = &own->notes[turn % 2];
    atomic_store_explicit(&note->tail, atomic_load_explicit(&own->tail, memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&note->tuples, atomic_load_explicit(&own->tuples, memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&note->bytes, atomic_load_explicit(&own->bytes, memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&note->ts, floor.ts, memory_order_release);
    atomic_store_explicit(&note->hi, floor.hi, memory_order_release);
    atomic_store_explicit(&note->lo, floor.lo, memory_order_release);
    atomic_store_explicit(&own->turn, turn, memory_order_release);
}

#endif
