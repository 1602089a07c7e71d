/* The papers' design: sources sort into one shared list, readers walk it. */
#include "order.h"
#include "skiplist.h"
#include "subject.h"

static sl_size its_size(subject_size size)
{
    return (sl_size){size.sources, size.readers, size.slots, size.tuples};
}

static uint64_t size_of(subject_size size)
{
    return sl_gate_size(its_size(size));
}

static void *format(void *memory, subject_size size)
{
    return sl_gate_format(memory, its_size(size));
}

static bool add(void *gate, uint32_t source, const vp_position *positions, uint32_t count)
{
    if (sl_source_claim(gate, source, positions, count) < 0)
        return false;
    sl_source_publish(gate, source);
    return true;
}

static bool close(void *gate, uint32_t source)
{
    return sl_source_heartbeat(gate, source, VP_END);
}

static void *reader_new(void *gate, uint32_t index)
{
    return sl_reader_new(gate, index);
}

static int64_t take(void *reader, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs)
{
    int64_t made = sl_reader_take(reader, into, limit, runs, max_runs);
    sl_reader_release(reader);
    return made;
}

static bool drained(void *reader)
{
    return sl_reader_drained(reader);
}

static void reader_free(void *reader)
{
    sl_reader_free(reader);
}

const b_subject subject_list = {
    "skip list", size_of, format, add, close, reader_new, take, drained, reader_free,
};
