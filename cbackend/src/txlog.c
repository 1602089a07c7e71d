/* The task's side of a log, and what others read of it.
 *
 * Order.  T0: transactions are written before the tail that covers them is released; who evaluates acquires it (T1).
 *         Results are written before `evaluated` covers them (E0); the task acquires it (E1). What is collected is
 *         told behind the tail, so whoever reads it first, and the tail then, finds all that it speaks of.
 * Said.   Seq_cst, for whoever gives the lease back and looks at it again; see txgroup.c.
 */
#include "txlog.h"

#include <stddef.h>

#include "crash.h"

enum { LEAST_BYTES = 4096, UNIT = 16 };

uint64_t vp_txlog_size(uint64_t bytes)
{
    bool is_possible = bytes >= LEAST_BYTES && bytes >> 32 == 0 && (bytes & (bytes - 1)) == 0;
    return is_possible ? sizeof(vp_txlog) + bytes : 0;
}

vp_txlog *vp_txlog_format(void *arena, uint64_t offset, uint64_t bytes, uint32_t component, uint32_t task)
{
    if (!vp_txlog_size(bytes))
        return NULL;
    vp_txlog *log = vp_txlog_at(arena, offset);
    *log = (vp_txlog){.ring_at = sizeof *log, .bytes = bytes, .component = component, .task = task};
    atomic_init(&log->evaluator.waits, UINT64_MAX);
    vp_twice_publish(&log->task_words.collected, VP_LEAST);
    return log;
}

vp_txlog *vp_txlog_at(void *arena, uint64_t offset)
{
    return (vp_txlog *)((char *)arena + offset);
}

/* -- positions */

void vp_twice_publish(vp_twice *twice, vp_position position)
{
    vp_progress_publish(&twice->first, position);
    VP_CRASH_POINT("twice: once");
    vp_progress_publish(&twice->second, position);
}

vp_position vp_twice_read(const vp_twice *twice)
{
    vp_position position;
    while (!vp_progress_read(&twice->first, &position) && !vp_progress_read(&twice->second, &position))
        continue;
    return position;
}

/* -- the task */

static uint64_t own(const vp_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

void *vp_txlog_room(vp_txlog *log, uint64_t *at, uint64_t bytes)
{
    uint64_t to_end = log->bytes - (*at & (log->bytes - 1));
    uint64_t skipped = bytes > to_end ? to_end : 0;
    if (bytes > log->bytes / 2 || *at + skipped + bytes - own(&log->task_words.head) > log->bytes)
        return NULL;
    if (skipped) {
        vp_tx *pad = vp_txlog_place(log, *at);
        pad->size = (uint32_t)skipped;
        pad->kind = VP_TX_PAD;
        *at += skipped;
    }
    return vp_txlog_place(log, *at);
}

vp_tx *vp_txlog_tx(const vp_txlog *log, uint64_t *at)
{
    vp_tx *tx = vp_txlog_place(log, *at);
    while (tx->kind == VP_TX_PAD) {
        *at += tx->size;
        tx = vp_txlog_place(log, *at);
    }
    return tx;
}

static void say(vp_txlog *log)
{
    atomic_store_explicit(&log->task_words.said, own(&log->task_words.said) + 1, memory_order_seq_cst);
}

void vp_txlog_publish(vp_txlog *log, uint64_t tail)
{
    atomic_store_explicit(&log->task_words.tail, tail, memory_order_release); /* T0 -> T1 */
    VP_CRASH_POINT("log: published");
    say(log);
}

void vp_txlog_collected(vp_txlog *log, vp_position position)
{
    if (vp_compare(position, vp_txlog_is_collected(log)) > 0)
        vp_twice_publish(&log->task_words.collected, position);
    VP_CRASH_POINT("log: collected");
    say(log);
}

vp_position vp_txlog_is_collected(const vp_txlog *log)
{
    return vp_twice_read(&log->task_words.collected);
}

void vp_txlog_release(vp_txlog *log, uint64_t head)
{
    /* Release: what the task read of it, it has read. Nobody else writes there. */
    atomic_store_explicit(&log->task_words.head, head, memory_order_release);
}

uint64_t vp_txlog_tail(const vp_txlog *log)
{
    return atomic_load_explicit(&log->task_words.tail, memory_order_acquire); /* T1 <- T0 */
}

uint64_t vp_txlog_head(const vp_txlog *log)
{
    return atomic_load_explicit(&log->task_words.head, memory_order_acquire);
}

uint64_t vp_txlog_evaluated(const vp_txlog *log)
{
    return atomic_load_explicit(&log->evaluator.evaluated, memory_order_acquire); /* E1 <- E0 */
}
