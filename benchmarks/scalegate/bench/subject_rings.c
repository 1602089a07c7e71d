/* Our design: a ring per source with a head per reader, and each reader merges the rings. */
#include "subject.h"

/* An arena begins with a header; here nothing of it is used but its room. */
enum { GATE_AT = 128 };

static vp_gate_shape its_shape(subject_size size)
{
    return (vp_gate_shape){size.sources, size.readers, size.slots, size.tuples, .payload_bytes = 0};
}

static uint64_t size_of(subject_size size)
{
    return GATE_AT + vp_gate_size(its_shape(size));
}

static void *format(void *memory, subject_size size)
{
    return vp_gate_format(memory, GATE_AT, its_shape(size));
}

static bool add(void *gate, uint32_t source, const vp_position *positions, uint32_t count)
{
    vp_ring *ring = vp_gate_ring(gate, source);
    /* Not written to: the type has no const. */
    const vp_positions jumbo = {.data = (vp_position *)(uintptr_t)positions, .length = count, .capacity = count};
    if (vp_ring_claim(ring, &jumbo, 0, count, 0) < 0)
        return false;
    vp_ring_publish(ring);
    return true;
}

static bool close(void *gate, uint32_t source)
{
    vp_ring_close(vp_gate_ring(gate, source));
    return true;
}

static void *reader_new(void *gate, uint32_t index)
{
    return vp_merge_new(gate, index);
}

static int64_t take(void *reader, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs)
{
    int64_t made = vp_merge_take(reader, into, limit, runs, max_runs);
    vp_merge_release(reader);
    return made;
}

static bool drained(void *reader)
{
    return vp_merge_drained(reader);
}

static void reader_free(void *reader)
{
    vp_merge_free(reader);
}

const b_subject subject_rings = {
    "rings", size_of, format, add, close, reader_new, take, drained, reader_free,
};
