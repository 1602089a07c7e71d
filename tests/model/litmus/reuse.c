/* R1 -> A1 with two readers and one slot: nothing is written where either of them still reads.
 *
 * Planted: reader.c gives its head back without an order.
 */
#ifdef PLANTED
#define WEAKER_READER
#endif
#include "litmus.h"

#include "one_unit.h"

enum { JUMBOS = 2, READERS = 2 };

static vp_ring *ring;
static int64_t added;
static int64_t taken[READERS];

static void prepare_round(void)
{
    ring = vp_gate_ring(new_gate((vp_gate_shape){1, READERS, 1, 1, 8, false}), 0);
    added = taken[0] = taken[1] = 0;
}

static void produce(void)
{
    for (int tries = 0; tries < TRIES && added < JUMBOS; tries++) {
        step();
        added += add_one(ring, added + 1) >= 0;
    }
}

static void read_as(uint32_t index)
{
    vp_reader reader = vp_reader_of(ring, index);
    for (int tries = 0; tries < TRIES && taken[index] < JUMBOS; tries++) {
        step();
        if (!tuple_waits(&reader))
            continue;
        taken[index]++;
        assert(reader.bound.ts == taken[index]);
        assert(payload_of(&reader) == taken[index]);
        vp_reader_advance(&reader, 1);
        vp_reader_release(&reader);
    }
}

static void read_first(void)
{
    read_as(0);
}

static void read_second(void)
{
    read_as(1);
}

static void judge_round(void)
{
    assert(taken[0] <= added && taken[1] <= added);
    witnessed += added == JUMBOS; /* the slot was used again */
}

int main(void)
{
    return run_rounds(3, (task[]){{0, produce}, {1, read_first}, {2, read_second}});
}
