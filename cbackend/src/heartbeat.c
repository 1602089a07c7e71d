/* Progress to many readers, and the end of a source. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, in blocked.h */

#include "blocked.h"
#include "crash.h"
#include "layout.h"
#include "note.h"
#include "order.h"
#include "progress.h"
#include "waking.h"

/* What was claimed and lies below the position must not be published any more; who closes is not blocked. */
static void give_up_below(vp_ring *ring, vp_position position)
{
    vp_producer_words *own = &ring->producer;
    /* Relaxed: the producer's own word. */
    const vp_slot *slot = vp_ring_slot(ring, atomic_load_explicit(&own->tail, memory_order_relaxed));
    if (own->claimed && vp_compare(*vp_ring_position(ring, slot->first), position) < 0)
        own->claimed = 0;
    if (vp_compare(position, VP_END) == 0)
        vp_blocked_end(own);
}

/* Whether it is new that nothing below the position will come. */
static bool promise(vp_ring *ring, vp_position position)
{
    if (vp_compare(position, vp_note_floor(&ring->producer)) <= 0)
        return false;
    give_up_below(ring, position);
    vp_progress_publish(&ring->progress, position); /* behind R0: see reader.c */
    vp_note_write(&ring->producer, position);       /* behind progress: see recover.c */
    VP_CRASH_POINT("heartbeat: noted");
    return true;
}

void vp_ring_heartbeat(vp_ring *const *rings, uint32_t count, vp_position position)
{
    vp_due due = {.count = 0};
    for (uint32_t i = 0; i < count; i++)
        if (promise(rings[i], position))
            vp_due_readers(&due, rings[i]);
    vp_due_ring(&due);
}

void vp_ring_tell_last_ts(vp_ring *ring, int64_t last_ts)
{
    /* Relaxed: the progress that makes readers ask for it is released behind it. */
    atomic_store_explicit(&ring->progress.last_ts, last_ts, memory_order_relaxed);
}

void vp_ring_close(vp_ring *ring)
{
    VP_CRASH_POINT("close: not yet");
    vp_ring_heartbeat(&ring, 1, VP_END);
}
