#include "buffer.h"

/* Orders, by label; a release names its acquire:
 *
 *   F0 -> F1  A filled slot: its output is there before its count.
 *   N0 -> N1  The next serial number: the slots before it are empty, and read, before it goes on.
 *   C0 -> C1  The flag, both ways. A worker fills its slot and then tries the flag; the holder clears the flag and then
 *             looks at the slot once more. This is Dekker's pattern: one of the two has to see the other. Both sides
 *             are exchanges, so one reads what the other wrote. If the worker finds the flag set, the holder's clear
 *             reads the worker's try, or a later one, and its second look finds the slot filled. If the clear came
 *             first, the worker gets the flag.
 *             A clear by a release store is not enough: a processor may delay it behind the second look. Then neither
 *             sees the other, and the output waits for somebody's next send, which may never come. For the same reason
 *             nobody may look at the flag by a load before trying it.
 */

uint64_t ro_buffer_size(uint64_t slot_count)
{
    return (sizeof(ro_buffer) + slot_count * sizeof(ro_slot) + RO_LINE - 1) / RO_LINE * RO_LINE;
}

ro_buffer *ro_buffer_format(void *memory, uint64_t slot_count, ro_downstream downstream)
{
    ro_buffer *made = memory;
    made->slot_count = slot_count;
    made->downstream = downstream;
    return made;
}

static ro_slot *slot_of(ro_buffer *buffer, uint64_t serial)
{
    return &buffer->slots[serial & (buffer->slot_count - 1)];
}

static bool add(ro_buffer *buffer, uint64_t first, uint64_t count, uint64_t output)
{
    uint64_t next = atomic_load_explicit(&buffer->next, memory_order_acquire); /* N1 <- N0 */
    if (first + count > next + buffer->slot_count)
        return false;
    ro_slot *slot = slot_of(buffer, first);
    atomic_store_explicit(&slot->output, output, memory_order_relaxed); /* by F0 */
    atomic_store_explicit(&slot->count, count, memory_order_release);   /* F0 -> F1 */
    return true;
}

/* Sends what is ready; returns the slot that was found empty. Relaxed, unless labelled: only the flag's holder writes. */
static ro_slot *drain(ro_buffer *buffer)
{
    uint64_t next = atomic_load_explicit(&buffer->next, memory_order_relaxed);
    ro_slot *slot = slot_of(buffer, next);
    uint64_t count;
    while ((count = atomic_load_explicit(&slot->count, memory_order_acquire)) > 0) { /* F1 <- F0 */
        uint64_t output = atomic_load_explicit(&slot->output, memory_order_relaxed);
        buffer->downstream.send(buffer->downstream.context, next, count, output);
        atomic_store_explicit(&slot->count, 0, memory_order_relaxed);
        next += count;
        atomic_store_explicit(&buffer->next, next, memory_order_release); /* N0 -> N1 */
        slot = slot_of(buffer, next);
    }
    return slot;
}

/* The paper calls itself again where this goes round. */
static void send_pending(ro_buffer *buffer)
{
    while (!atomic_exchange_explicit(&buffer->flag, 1, memory_order_acq_rel)) { /* C0, C1 */
        ro_slot *empty = drain(buffer);
        atomic_exchange_explicit(&buffer->flag, 0, memory_order_acq_rel); /* C0, C1 */
        if (!atomic_load_explicit(&empty->count, memory_order_relaxed))
            return;
    }
}

bool ro_buffer_send(ro_buffer *buffer, uint64_t first, uint64_t count, uint64_t output)
{
    bool added = add(buffer, first, count, output);
    send_pending(buffer);
    return added;
}
