/* Nodes are used again; when, is the question that the garbage collector answers in the papers' Java.
 *
 * A reader counts how often it has passed each place of the pools, the owner how often it has used it; a
 * place's nth node has been passed by the readers that have counted to n. Who gets to a node that all have
 * passed?
 *
 * A source begins its walk at the node that holds its last item (run.c), which no reader passes, and
 * walks forward. So the rule that makes tuples ready is also the one that keeps the nodes a source
 * needs, and neither a slow reader nor an idle source needs another. Two things are left:
 * - At the levels above, a source begins at hints. They lie before its last item, and may be behind all
 *   readers; an idle source's are, after a while. So a source that begins a walk drops the hints that
 *   do not live any more (sl_pool_lives). A node lives while some reader has not passed it, and then all
 *   nodes behind it in the list live too.
 * - During the walk readers go on, and may pass the hints. So a node is used again only after a grace
 *   period: every source that was walking when all readers had passed it has ended that walk. A
 *   source that is idle walks nowhere and holds up nobody.
 *
 * Order. Walker: P0 its turn becomes odd; fence; P1 it looks at what readers passed. Owner: P2 it looks at
 *        what readers passed; fence; P3 it looks at the turns. The fences are sequentially consistent. If P3
 *        misses P0, the owner's fence comes first, so P1 sees at least what P2 saw, and all that
 *        happened before it: the walker drops the hint. P4: a reader has read a node before it
 *        releases that it passed it.
 * Died.  A source that is killed inside a walk has to be made to leave by its supervisor, or the other
 *        sources run out of nodes.
 */
#include "pool.h"

/* In a queue of used places. */
static const uint32_t REST = UINT32_C(1) << 31;

void sl_pool_enter(sl_source *own)
{
    uint64_t turn = atomic_load_explicit(&own->turn, memory_order_relaxed); /* relaxed: its own word */
    atomic_store_explicit(&own->turn, turn + 1, memory_order_relaxed);      /* P0; relaxed: the fence is next */
    atomic_thread_fence(memory_order_seq_cst);
}

void sl_pool_leave(sl_source *own)
{
    uint64_t turn = atomic_load_explicit(&own->turn, memory_order_relaxed); /* relaxed: its own word */
    atomic_store_explicit(&own->turn, turn + 1, memory_order_release);      /* P5: it is done with what it read */
}

/* Whether all readers have passed a place's nth node; its later ones, too, maybe. */
static bool is_passed(const sl_gate *gate, uint32_t index, uint32_t use)
{
    for (uint32_t i = 0; i < gate->reader_count; i++) {
        _Atomic uint32_t *passes = &sl_passes_of(gate, i)[index];
        if ((int32_t)(atomic_load_explicit(passes, memory_order_acquire) - use) < 0) /* P1, P2 <- P4 */
            return false;
    }
    return true;
}

bool sl_pool_lives(const sl_gate *gate, sl_reference reference)
{
    return !is_passed(gate, (uint32_t)reference, (uint32_t)(reference >> 32));
}

static uint64_t *seen_turns(const sl_gate *gate, uint32_t source)
{
    return (uint64_t *)sl_at(gate, gate->turns_at) + (uint64_t)source * gate->source_count;
}

/* Retires what all readers have passed. A source's runs are in the list's order, so the first that lives
 * ends the search; rests can be anywhere behind their runs, and wait in the queue for another turn. */
static void retire(sl_gate *gate, uint32_t source)
{
    sl_pool *pool = sl_pool_of(gate, source);
    for (uint32_t left = pool->used; left > 0; left--) {
        uint32_t entry = *sl_queue_at(gate, source, pool->oldest), index = entry & ~REST;
        bool passed = is_passed(gate, index, *sl_use_of(gate, index));
        if (!passed && entry == index)
            return;
        pool->oldest++;
        pool->used--;
        if (passed)
            *sl_retired_at(gate, source, pool->retired++) = index;
        else
            *sl_queue_at(gate, source, pool->oldest + pool->used++) = entry;
    }
}

static void begin_grace(sl_gate *gate, uint32_t source)
{
    retire(gate, source);
    atomic_thread_fence(memory_order_seq_cst);
    uint64_t *turns = seen_turns(gate, source);
    for (uint32_t i = 0; i < gate->source_count; i++)
        turns[i] = atomic_load_explicit(&sl_source_of(gate, i)->turn, memory_order_acquire); /* P3 <- P0, P5 */
}

static void end_grace(sl_gate *gate, uint32_t source)
{
    const uint64_t *turns = seen_turns(gate, source);
    for (uint32_t i = 0; i < gate->source_count; i++) {
        uint64_t turn = atomic_load_explicit(&sl_source_of(gate, i)->turn, memory_order_acquire); /* <- P5 */
        if (turns[i] % 2 && turn == turns[i])
            return;
    }
    sl_pool *pool = sl_pool_of(gate, source);
    /* The youngest on top: it is the one most likely to be in a cache. */
    for (uint32_t i = 0; i < pool->retired; i++)
        *sl_free_at(gate, source, pool->free++) = *sl_retired_at(gate, source, i);
    pool->retired = 0;
}

bool sl_pool_has_room(sl_gate *gate, uint32_t source, uint64_t nodes)
{
    sl_pool *pool = sl_pool_of(gate, source);
    if (pool->free >= nodes)
        return true;
    if (pool->retired > 0)
        end_grace(gate, source);
    if (pool->retired == 0 && pool->free < nodes) {
        begin_grace(gate, source);
        end_grace(gate, source);
    }
    return pool->free >= nodes;
}

uint32_t sl_pool_peek(const sl_gate *gate, uint32_t source, uint32_t next)
{
    return *sl_free_at(gate, source, sl_pool_of(gate, source)->free - 1 - next);
}

sl_reference sl_pool_take(sl_gate *gate, uint32_t source, bool is_rest)
{
    sl_pool *pool = sl_pool_of(gate, source);
    uint32_t index = *sl_free_at(gate, source, --pool->free);
    *sl_queue_at(gate, source, pool->oldest + pool->used++) = is_rest ? index | REST : index;
    pool->taken++;
    return (sl_reference)++*sl_use_of(gate, index) << 32 | index;
}

void sl_pool_format(sl_gate *gate, uint32_t source)
{
    sl_pool *pool = sl_pool_of(gate, source);
    for (uint64_t left = gate->node_count; left > 0; left--)
        *sl_free_at(gate, source, pool->free++) = (uint32_t)(source * gate->node_count + left); /* 1 on top */
}
