/* Claims: the readers of a gate share its tuples, each of which goes to one of them.
 *
 * The merge is the same for all readers, so a tuple has a number in it: how many come before. A claim is a stretch of
 * these numbers. Claims follow one another, and the gate has one word for the last: where it ends, and whose it is.
 * Whoever wants the next one has seen that its tuples are ready, and exchanges the word. Who has lost the exchange leaves
 * out what has been claimed, and tries again with the rest. So a claim never waits for a tuple, and is as long as its
 * claimant likes. Claims of one reader ascend, and so do its outputs, which lie below its inputs.
 *
 * Death.  A claim must be known when its claimant dies right behind the exchange. Before it, the claimant notes where
 *         the claim begins; behind it, where it ends. Whoever claims next notes that end for the last claimant first.
 *         So a claim is open if it ends behind where it begins, and nobody has seen anything of it while `seen` lies
 *         before its end. Its reader's successor is delivered it again.
 * Redo.   Where a claimant's task has a page (page.c), that says how far it has committed, and `seen` is set by it when
 *         the claimant has died: what it had seen and not committed is open, too. So such a claimant commits what it
 *         has claimed before it claims again, and releases nothing of it earlier.
 * Rest.   Who rests claims nothing, but has to know how far the others have come: its promise to consumers goes by that,
 *         and the room that it gives back. So it notes that it rests before it looks, and a claimant looks for that
 *         behind its claim, and rings its bell. Either it sees the claim, or the claimant sees that it rests.
 * Order.  All of it is seq_cst: a claim is made for a stretch of tuples, and one in 64 tuples would not be worth a
 *         weaker order.
 * Progress. Lock-free: an exchange fails only where another has claimed.
 * Range.  Numbers have 48 bits: at 10 million tuples a second they last for ten months.
 */
#ifndef VIPER_CLAIMS_H
#define VIPER_CLAIMS_H

#include "crash.h"
#include "layout.h"
#include "waking.h"

enum { VP_CLAIM_READER_BITS = 16 };

/* Where the last claim ends: the number of the first tuple that nobody has claimed. */
static inline uint64_t vp_claimed(const vp_gate *gate)
{
    return atomic_load(&gate->claimed) >> VP_CLAIM_READER_BITS;
}

/* Notes for its claimant where a claim ends, unless it has one that ends later. */
static inline void vp_claim_note(vp_gate *gate, uint64_t claim)
{
    _Atomic uint64_t *noted = &gate->readers[claim & ((1 << VP_CLAIM_READER_BITS) - 1)].claim_end;
    uint64_t end = claim >> VP_CLAIM_READER_BITS, found = atomic_load(noted);
    while (found < end && !atomic_compare_exchange_weak(noted, &found, end))
        ;
}

/* Tells readers that rest of a claim, but those that share the bell of the claimant, whose thread knows it. */
static inline void vp_claim_tell(const vp_gate *gate, uint32_t reader)
{
    if (!atomic_load(&gate->rests))
        return;
    /* Relaxed, here and below: a bell is set before its task runs. */
    uint64_t own = atomic_load_explicit(&gate->readers[reader].bell, memory_order_relaxed);
    vp_due due = {.count = 0};
    for (uint32_t other = 0; other < gate->reader_count; other++) {
        const vp_reader_words *words = &gate->readers[other];
        uint64_t bell = atomic_load_explicit(&words->bell, memory_order_relaxed);
        if (bell && bell != own && atomic_load(&words->rests))
            vp_due_bell(&due, vp_gate_bell(gate, bell));
    }
    vp_due_ring(&due);
}

/* Claims what lies before a number and nobody has claimed; returns where that begins, which is no less than the number
 * if all has been claimed. */
static inline uint64_t vp_claim_until(vp_gate *gate, uint32_t reader, uint64_t end)
{
    uint64_t last = atomic_load(&gate->claimed), mine = end << VP_CLAIM_READER_BITS | reader;
    while (last >> VP_CLAIM_READER_BITS < end) {
        uint64_t begin = last >> VP_CLAIM_READER_BITS;
        vp_claim_note(gate, last);
        atomic_store(&gate->readers[reader].claim, begin);
        VP_CRASH_POINT("claim: not exchanged");
        if (atomic_compare_exchange_weak(&gate->claimed, &last, mine)) {
            VP_CRASH_POINT("claim: exchanged");
            vp_claim_note(gate, mine);
            VP_CRASH_POINT("claim: noted");
            vp_claim_tell(gate, reader);
            return begin;
        }
    }
    return last >> VP_CLAIM_READER_BITS;
}

/* Where what is left of a reader's last claim begins, if it is done with all before a number: at its end if nothing is. */
static inline uint64_t vp_claim_open(vp_gate *gate, uint32_t reader, uint64_t done, uint64_t *end)
{
    const vp_reader_words *own = &gate->readers[reader];
    vp_claim_note(gate, atomic_load(&gate->claimed));
    *end = atomic_load(&own->claim_end);
    uint64_t begin = atomic_load(&own->claim);
    begin = begin > done ? begin : done;
    return begin < *end ? begin : *end;
}

#endif
