/* R0 -> A0: a reader that sees a tail finds slot, positions and payload as they were written.
 *
 * Planted: ring.c orders nothing.
 */
#ifdef PLANTED
#define WEAKER_RING
#endif
#include "litmus.h"

#include "one_unit.h"

enum { JUMBOS = 3 };

static vp_ring *ring;
static int64_t taken;

static void prepare_round(void)
{
    ring = vp_gate_ring(new_gate((vp_gate_shape){1, 1, 4, 4, 64, false}), 0);
    taken = 0;
}

static void produce(void)
{
    for (int64_t ts = 1; ts <= JUMBOS; ts++) {
        int64_t slot = add_one(ring, ts);
        assert(slot == ts - 1);
    }
}

static void consume(void)
{
    vp_reader reader = vp_reader_of(ring, 0);
    for (int tries = 0; tries < TRIES && taken < JUMBOS; tries++) {
        step();
        if (!tuple_waits(&reader))
            continue;
        taken++;
        uint32_t count;
        assert(vp_reader_positions(&reader, &count)->ts == taken && count == 1);
        assert(payload_of(&reader) == taken);
        vp_reader_advance(&reader, 1);
    }
}

static void judge_round(void)
{
    witnessed += taken > 0;
}

int main(void)
{
    return run_rounds(2, (task[]){{0, produce}, {1, consume}});
}
