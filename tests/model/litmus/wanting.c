/* D0 to D3: a source that finds its ring full and sleeps is woken by what is released.
 *
 * Planted: a release that looks whether room is wanted before it makes room.
 */
#include "litmus.h"

#include "kernel.h"

#include "one_unit.h"

static vp_bell *bell;
static vp_ring *ring;
static bool added;

static void prepare_round(void)
{
    vp_gate *gate = new_gate((vp_gate_shape){1, 1, 1, 1, 8, false});
    vp_gate_set_source_bell(gate, 0, BELL_AT);
    bell = vp_gate_bell(gate, BELL_AT);
    ring = vp_gate_ring(gate, 0);
    int64_t slot = add_one(ring, 10);
    assert(slot == 0);
    asleep = was_asleep = added = false;
}

static void produce(void)
{
    uint32_t ticket = vp_bell_ticket(bell);
    added = add_one(ring, 20) == 0;
    if (!added)
        vp_bell_wait(bell, ticket, INT64_MAX);
}

static void release(vp_reader *reader)
{
#ifdef PLANTED
    bool wanted = atomic_load(&ring->room.wanting);
    step();
    reader->released = reader->slot;
    atomic_store(&reader->own->head, reader->slot);
    if (wanted)
        vp_wake_source(ring);
#else
    vp_reader_release(reader);
#endif
}

static void consume(void)
{
    vp_reader reader = vp_reader_of(ring, 0);
    bool waits = tuple_waits(&reader);
    assert(waits);
    vp_reader_advance(&reader, 1);
    step();
    release(&reader);
}

static void judge_round(void)
{
    assert(!asleep); /* there is room, and the source wanted it */
    witnessed += was_asleep;
}

int main(void)
{
    return run_rounds(2, (task[]){{0, produce}, {1, consume}});
}
