/* Progress before tail: a source's bound never lies beyond a tuple that was not taken.
 *
 * Planted: a refresh that looks at tail first.
 */
#include "litmus.h"

#include "one_unit.h"
#include "heartbeat.c"

static vp_ring *ring;
static bool bounded;

static void prepare_round(void)
{
    ring = vp_gate_ring(new_gate((vp_gate_shape){1, 1, 1, 1, 8, false}), 0);
    bounded = false;
}

static void produce(void)
{
    step();
    int64_t slot = add_one(ring, 10);
    assert(slot == 0);
    vp_ring_heartbeat(&ring, 1, at(20));
}

static bool refresh(vp_reader *reader)
{
#ifdef PLANTED
    reader->published = atomic_load_explicit(&ring->producer.tail, memory_order_acquire);
    step();
    vp_progress_read(&ring->progress, &reader->bound);
    return true;
#else
    return vp_reader_refresh(reader);
#endif
}

static void consume(void)
{
    vp_reader reader = vp_reader_of(ring, 0);
    for (int tries = 0; tries < TRIES && !vp_reader_has_tuple(&reader); tries++) {
        step();
        refresh(&reader);
        assert(vp_reader_has_tuple(&reader) || reader.bound.ts <= 10);
    }
    bounded = vp_reader_has_tuple(&reader);
}

static void judge_round(void)
{
    witnessed += bounded;
}

int main(void)
{
    return run_rounds(2, (task[]){{0, produce}, {1, consume}});
}
