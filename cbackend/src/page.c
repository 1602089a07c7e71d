/* Words in the arena: | singly | commits | delivered, by input ... | handed over, by output ... |
 *
 * The page is noted from what the rings say themselves: a reader's head has the tuples that were delivered, a
 * producer's words those that were published. Nothing is counted for it tuple by tuple.
 */
#include "viper/page.h"

#include <stdlib.h>

#include "claims.h"
#include "crash.h"
#include "layout.h"
#include "reader.h"
#include "writer.h"

typedef struct {
    vp_ring *ring;
    uint64_t skip; /* tuples that the ring has, and the redo has not come to as yet */
} fed;

struct vp_page {
    vp_word *singly, *commits, *delivered, *handed_over;
    uint32_t input_count, output_count;
    fed *outputs;
    vp_head *heads[]; /* by input; NULL where nobody reads as yet */
};

uint64_t vp_page_size(uint32_t inputs, uint32_t outputs)
{
    return (2 + (uint64_t)inputs + outputs) * sizeof(vp_word);
}

vp_page *vp_page_new(void *arena, uint64_t offset, uint32_t inputs, uint32_t outputs)
{
    vp_page *page = calloc(1, sizeof *page + inputs * sizeof *page->heads);
    fed *made = calloc(outputs ? outputs : 1, sizeof *made);
    if (!page || !made) {
        free(page);
        free(made);
        return NULL;
    }
    page->singly = (vp_word *)((char *)arena + offset);
    page->commits = page->singly + 1;
    page->delivered = page->commits + 1;
    page->handed_over = page->delivered + inputs;
    page->input_count = inputs;
    page->output_count = outputs;
    page->outputs = made;
    return page;
}

void vp_page_free(vp_page *page)
{
    free(page->outputs);
    free(page);
}

uint64_t vp_page_singly(const vp_page *page)
{
    return vp_read(page->singly);
}

void vp_page_set_singly(vp_page *page, uint64_t tuples)
{
    /* Relaxed: written by the task, or while it is dead. */
    atomic_store_explicit(page->singly, tuples, memory_order_relaxed);
}

uint64_t vp_page_commits(const vp_page *page)
{
    return vp_read(page->commits);
}

uint64_t vp_page_delivered(const vp_page *page, uint32_t input)
{
    return vp_read(&page->delivered[input]);
}

uint64_t vp_page_handed_over(const vp_page *page, uint32_t output)
{
    return vp_read(&page->handed_over[output]);
}

void vp_page_read(vp_page *page, uint32_t first, vp_gate *gate, uint32_t reader)
{
    for (uint32_t source = 0; source < gate->source_count; source++)
        page->heads[first + source] = vp_ring_head(vp_gate_ring_at(gate, source), reader);
}

/* Tuples that were published. Relaxed: the task's own word. */
static uint64_t published(const vp_ring *ring)
{
    return atomic_load_explicit(&ring->producer.tuples, memory_order_relaxed);
}

uint64_t vp_page_feed(vp_page *page, uint32_t number, vp_ring *ring)
{
    fed *of = &page->outputs[number];
    of->ring = ring;
    return of->skip = published(ring) - vp_page_handed_over(page, number);
}

uint64_t vp_page_skip(vp_page *page, uint32_t output, uint64_t tuples)
{
    return page->outputs[output].skip -= tuples;
}

/* -- the commit */

/* Whether a word was another one. */
static bool note(vp_writer *writer, vp_word *word, uint64_t value)
{
    if (vp_read(word) == value)
        return false;
    vp_write(writer, word, value);
    return true;
}

/* Whether any has come further. */
static bool note_inputs(vp_page *page, vp_writer *writer)
{
    bool changed = false;
    for (uint32_t i = 0; i < page->input_count; i++) {
        const vp_head *head = page->heads[i];
        /* Relaxed: the task's own word. */
        if (head)
            changed |= note(writer, &page->delivered[i], atomic_load_explicit(&head->delivered, memory_order_relaxed));
    }
    return changed;
}

int vp_page_note(vp_page *page, vp_writer *writer)
{
    if (vp_writer_reserve(writer, 1 + (uint64_t)page->input_count + page->output_count))
        return VP_NO_ROOM;
    bool changed = note_inputs(page, writer);
    for (uint32_t i = 0; i < page->output_count; i++) {
        const fed *of = &page->outputs[i];
        /* What is still to be skipped belongs to tuples that are not processed as yet. */
        if (of->ring)
            changed |= note(writer, &page->handed_over[i], published(of->ring) - of->skip);
    }
    if (changed)
        vp_write(writer, page->commits, vp_read(page->commits) + 1);
    return changed;
}

/* -- after a death */

uint64_t vp_page_taken(const vp_page *page, uint32_t input)
{
    /* Relaxed: its reader is dead. */
    uint64_t delivered = atomic_load_explicit(&page->heads[input]->delivered, memory_order_relaxed);
    return delivered - vp_page_delivered(page, input);
}

/* The number of the first tuple of a gate that is not committed. */
static uint64_t committed(const vp_page *page, uint32_t first, const vp_gate *gate)
{
    uint64_t number = 0;
    for (uint32_t source = 0; source < gate->source_count; source++)
        number += vp_page_delivered(page, first + source);
    return number;
}

uint64_t vp_page_taken_of_claim(const vp_page *page, uint32_t first, vp_gate *gate, uint32_t reader)
{
    uint64_t end, begin = vp_claim_open(gate, reader, committed(page, first, gate), &end);
    uint64_t seen = atomic_load(&gate->readers[reader].seen);
    end = seen < end ? seen : end;
    return begin < end ? end - begin : 0;
}

int vp_page_leave_out(vp_page *page, vp_writer *writer)
{
    if (vp_writer_reserve(writer, 1 + (uint64_t)page->input_count))
        return VP_NO_ROOM;
    note_inputs(page, writer);
    vp_write(writer, page->commits, vp_page_commits(page) + 1);
    return 0;
}

void vp_gate_rewind_reader(vp_gate *gate, uint32_t reader, const vp_page *page, uint32_t first)
{
    atomic_store(&gate->readers[reader].seen, committed(page, first, gate));
    for (uint32_t source = 0; source < gate->source_count && !gate->claims; source++) {
        vp_head *head = vp_ring_head(vp_gate_ring_at(gate, source), reader);
        /* Relaxed: its reader is dead. Burying computes all else from it. */
        atomic_store_explicit(&head->delivered, vp_page_delivered(page, first + source), memory_order_relaxed);
        VP_CRASH_POINT("rewind: told");
    }
    VP_CRASH_POINT("rewind: not buried");
    vp_gate_bury_reader(gate, reader);
}
