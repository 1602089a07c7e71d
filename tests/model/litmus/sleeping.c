/* B0 to B4: who sleeps on a bell, having found nothing, is woken by what comes.
 *
 * Planted: the ticket is taken after the look.
 */
#include "litmus.h"

#include "kernel.h"

#include "one_unit.h"

static vp_bell *bell;
static vp_ring *ring;
static bool found;

static void prepare_round(void)
{
    vp_gate *gate = new_gate((vp_gate_shape){1, 1, 1, 1, 8, false});
    vp_gate_set_reader_bell(gate, 0, BELL_AT);
    bell = vp_gate_bell(gate, BELL_AT);
    ring = vp_gate_ring(gate, 0);
    asleep = was_asleep = found = false;
}

static void produce(void)
{
    step();
    int64_t slot = add_one(ring, 10);
    assert(slot == 0);
}

static void look_then_sleep(void)
{
    vp_reader reader = vp_reader_of(ring, 0);
    step();
#ifdef PLANTED
    found = tuple_waits(&reader);
    step();
    uint32_t ticket = vp_bell_ticket(bell);
#else
    uint32_t ticket = vp_bell_ticket(bell);
    step();
    found = tuple_waits(&reader);
#endif
    if (!found)
        vp_bell_wait(bell, ticket, INT64_MAX);
}

static void judge_round(void)
{
    assert(!asleep); /* the source has rung since */
    witnessed += was_asleep;
}

int main(void)
{
    return run_rounds(2, (task[]){{0, produce}, {1, look_then_sleep}});
}
