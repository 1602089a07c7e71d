/* A gate on one thread: several readers, payloads in the byte store, bells. */
#include "check.h"
#include "viper/arena.h"

enum { MAX_RUNS = 64 };

static vp_gate *gate_of(uint32_t sources, uint32_t readers, uint32_t slots, uint64_t bytes)
{
    return new_gate((vp_gate_shape){sources, readers, slots, 16, bytes, false});
}

/* Takes and releases all that is ready; returns how many tuples, the first of which is at *ts. */
static uint64_t take(vp_merge *merge, int64_t *ts)
{
    vp_positions *into = vp_positions_new();
    vp_run runs[MAX_RUNS];
    CHECK(vp_merge_take(merge, into, UINT64_MAX, runs, MAX_RUNS) >= 0);
    vp_merge_release(merge);
    uint64_t taken = into->length;
    if (taken)
        *ts = into->data[0].ts;
    vp_positions_free(into);
    return taken;
}

static void test_every_reader_gets_everything(void)
{
    vp_gate *gate = gate_of(2, 3, 4, 0);
    vp_merge *merges[3];
    for (uint32_t i = 0; i < 3; i++)
        merges[i] = vp_merge_new(gate, i);
    CHECK(add(vp_gate_ring(gate, 0), 1, 3) >= 0 && add(vp_gate_ring(gate, 1), 2, 3) >= 0);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t ts = 0;
        CHECK_EQUAL(vp_gate_holding(gate, i), -1);
        CHECK_EQUAL(take(merges[i], &ts), 4); /* 1 2 2 3, then source 0 may still add at 3 */
        CHECK_EQUAL(ts, 1);
        CHECK_EQUAL(vp_gate_holding(gate, i), 0);
        CHECK_EQUAL(vp_gate_delivered(gate, i, 0).delivered_tuples, 3);
        CHECK_EQUAL(vp_gate_delivered(gate, i, 1).waiting_tuples, 2);
        CHECK_EQUAL(vp_gate_delivered(gate, i, 1).waiting_jumbos, 1);
        CHECK_EQUAL(vp_merge_waiting(merges[i]), 2);
    }
    for (uint32_t i = 0; i < 3; i++)
        vp_merge_free(merges[i]);
    free(gate);
}

static void test_the_slowest_reader_bounds_the_ring(void)
{
    vp_gate *gate = gate_of(1, 2, 2, 0);
    vp_ring *ring = vp_gate_ring(gate, 0);
    vp_merge *quick = vp_merge_new(gate, 0), *slow = vp_merge_new(gate, 1);
    int64_t ts;
    CHECK(add(ring, 1, 1) >= 0 && add(ring, 2, 1) >= 0);
    CHECK_EQUAL(take(quick, &ts), 2);
    CHECK_EQUAL(add(ring, 3, 1), VP_FULL);
    CHECK_EQUAL(take(slow, &ts), 2);
    CHECK(add(ring, 3, 1) >= 0 && add(ring, 4, 1) >= 0);
    CHECK_EQUAL(take(quick, &ts), 2);
    CHECK_EQUAL(add(ring, 5, 1), VP_FULL);
    vp_gate_expel_reader(gate, 1);
    CHECK(add(ring, 5, 1) >= 0);
    CHECK_EQUAL(take(quick, &ts), 1);
    vp_gate_expel_reader(gate, 0);
    for (int64_t more = 6; more < 20; more++)
        CHECK(add(ring, more, 1) >= 0); /* nobody reads */
    vp_merge_free(quick);
    vp_merge_free(slow);
    free(gate);
}

static void test_sizes_of_payloads(void)
{
    vp_gate *gate = gate_of(1, 1, 4, 60);
    vp_ring *ring = vp_gate_ring(gate, 0);
    CHECK_EQUAL(vp_ring_payload_bytes(ring), 64);
    CHECK_EQUAL(add_with(ring, 1, 1, 65), VP_PAYLOAD_TOO_LARGE);
    CHECK(vp_ring_room(ring, 1, 64) && !vp_ring_room(ring, 1, 65));
    CHECK_EQUAL(add_with(ring, 1, 1, 64), 0);
    CHECK_EQUAL(add_with(ring, 2, 1, 1), VP_FULL);
    CHECK_EQUAL(add_with(ring, 2, 1, 0), 1);
    CHECK_EQUAL(vp_gate_added(gate, 0).added_bytes, 64);
    vp_merge *merge = vp_merge_new(gate, 0);
    int64_t ts;
    CHECK_EQUAL(take(merge, &ts), 2);
    uint64_t bytes;
    CHECK_EQUAL(add_with(ring, 3, 1, 63), 2);
    CHECK_EQUAL((char *)vp_ring_payload(ring, 2, &bytes) - (char *)ring, (long long)ring->bytes_at);
    CHECK_EQUAL(bytes, 63);
    vp_merge_free(merge);
    free(gate);
    gate = gate_of(1, 1, 4, 0);
    CHECK_EQUAL(add_with(vp_gate_ring(gate, 0), 1, 1, 1), VP_PAYLOAD_TOO_LARGE);
    CHECK(add_with(vp_gate_ring(gate, 0), 1, 1, 0) >= 0);
    free(gate);
}

static void test_time_while_blocked_is_counted(void)
{
    vp_gate *gate = gate_of(1, 1, 1, 0);
    vp_ring *ring = vp_gate_ring(gate, 0);
    vp_merge *merge = vp_merge_new(gate, 0);
    int64_t ts;
    CHECK(add(ring, 1, 1) >= 0);
    CHECK_EQUAL(vp_gate_added(gate, 0).blocked_ns, 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(add(ring, 2, 1), VP_FULL);
    CHECK_EQUAL(vp_gate_added(gate, 0).refused, 3);
    CHECK_EQUAL(take(merge, &ts), 1);
    CHECK(add(ring, 2, 1) >= 0);
    uint64_t blocked = vp_gate_added(gate, 0).blocked_ns;
    CHECK(blocked > 0);
    CHECK_EQUAL(take(merge, &ts), 1);
    CHECK(add(ring, 3, 1) >= 0); /* not refused */
    CHECK_EQUAL(vp_gate_added(gate, 0).blocked_ns, (long long)blocked);
    vp_merge_free(merge);
    free(gate);
}

/* Two readers at their own pace, payloads of any size, numbers that wrap around: what a reader is given
 * stays until it releases it. The thread and address sanitizers see what the contents do not show. */
static void test_random_payloads(uint64_t seed)
{
    enum { ROUNDS = 3000, SLOTS = 8, BYTES = 256 };
    vp_gate *gate = gate_of(1, 2, SLOTS, BYTES);
    vp_ring *ring = vp_gate_ring(gate, 0);
    fast_forward(ring, UINT64_MAX - ROUNDS / 3);
    vp_merge *merges[] = {vp_merge_new(gate, 0), vp_merge_new(gate, 1)};
    vp_positions *into = vp_positions_new();
    uint64_t taken[2] = {0}, added = 0;
    for (int64_t ts = 0; added < ROUNDS || taken[0] < added || taken[1] < added;) {
        uint32_t which = random_below(&seed, 3);
        if (which == 2) {
            uint64_t most = random_below(&seed, 8) ? 60 : BYTES;
            if (added < ROUNDS && add_with(ring, ts, 1, random_below(&seed, (uint32_t)most + 1)) >= 0)
                ts++, added++;
            continue;
        }
        vp_run runs[3];
        into->length = 0;
        int64_t made = vp_merge_take(merges[which], into, 3, runs, 3);
        for (int64_t i = 0; i < made; i++) {
            uint64_t bytes;
            const uint8_t *payload = vp_ring_payload(ring, runs[i].slot, &bytes);
            CHECK_EQUAL(into->data[i].ts, taken[which]);
            CHECK(is_filled(payload, bytes, taken[which]));
            taken[which]++;
        }
        vp_merge_release(merges[which]);
    }
    vp_positions_free(into);
    vp_merge_free(merges[0]);
    vp_merge_free(merges[1]);
    free(gate);
}

static void test_sources_say_how_far_event_time_came(void)
{
    vp_gate *gate = gate_of(3, 1, 4, 0);
    vp_merge *merge = vp_merge_new(gate, 0);
    CHECK_EQUAL(vp_merge_last_ts(merge), INT64_MIN);
    vp_ring_tell_last_ts(vp_gate_ring(gate, 1), 70);
    vp_ring_tell_last_ts(vp_gate_ring(gate, 0), -5);
    CHECK_EQUAL(vp_merge_last_ts(merge), 70);
    CHECK_EQUAL(vp_merge_until_ts(merge), VP_TS_OF_PROGRESS);
    vp_ring_tell_last_ts(vp_gate_ring(gate, 2), INT64_MIN);
    CHECK_EQUAL(vp_merge_until_ts(merge), 70);
    for (uint32_t i = 0; i < 3; i++)
        vp_ring_close(vp_gate_ring(gate, i));
    CHECK(vp_merge_drained(merge));
    CHECK_EQUAL(vp_merge_last_ts(merge), 70);
    CHECK_EQUAL(vp_compare(vp_ring_floor(vp_gate_ring(gate, 2)), VP_END), 0);
    CHECK_EQUAL(add(vp_gate_ring(gate, 2), 1, 1), VP_UNORDERED);
    vp_merge_free(merge);
    free(gate);
}

/* A gate and the bells of its two readers and its source, in an arena. */
typedef struct {
    vp_arena *arena;
    vp_gate *gate;
    vp_ring *ring;
    vp_bell *readers[2], *source;
} ringing;

static vp_bell *new_bell(vp_arena *arena, uint64_t *offset)
{
    *offset = vp_arena_allocate(arena, vp_bell_size());
    return vp_arena_at(arena, *offset);
}

static ringing set_up(void)
{
    vp_gate_shape shape = {1, 2, 2, 16, 0, false};
    vp_arena *arena = vp_arena_new(vp_gate_size(shape) + 3 * VP_LINE);
    vp_gate *gate = vp_gate_format(arena, vp_arena_allocate(arena, vp_gate_size(shape)), shape);
    ringing r = {.arena = arena, .gate = gate, .ring = vp_gate_ring(gate, 0)};
    uint64_t offset;
    for (uint32_t i = 0; i < 2; i++) {
        r.readers[i] = new_bell(arena, &offset);
        vp_gate_set_reader_bell(gate, i, offset);
    }
    r.source = new_bell(arena, &offset);
    vp_gate_set_source_bell(gate, 0, offset);
    return r;
}

static void test_what_rings(void)
{
    ringing r = set_up();
    CHECK(add(r.ring, 5, 1) >= 0);
    heartbeat(r.ring, at(7));
    heartbeat(r.ring, at(7));
    heartbeat(r.ring, at(6));
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vp_bell_ticket(r.readers[i]), 2);
    vp_merge *merges[] = {vp_merge_new(r.gate, 0), vp_merge_new(r.gate, 1)};
    uint32_t ticket = vp_bell_ticket(r.source);
    int64_t ts;
    CHECK_EQUAL(take(merges[0], &ts) + take(merges[1], &ts), 2);
    CHECK_EQUAL(vp_bell_ticket(r.source), ticket); /* it did not find the ring full */
    CHECK(add(r.ring, 8, 1) >= 0 && add(r.ring, 9, 1) >= 0);
    CHECK_EQUAL(add(r.ring, 10, 1), VP_FULL);
    CHECK_EQUAL(take(merges[0], &ts), 2);
    CHECK_EQUAL(vp_bell_ticket(r.source), ticket + 1);
    CHECK_EQUAL(take(merges[1], &ts), 2);
    CHECK_EQUAL(vp_bell_ticket(r.source), ticket + 1); /* it has not looked since */
    vp_merge_free(merges[0]);
    vp_merge_free(merges[1]);
    vp_arena_free(r.arena, r.arena->capacity);
}

static void test_one_call_rings_each_bell_once(void)
{
    ringing r[] = {set_up(), set_up()};
    vp_ring *rings[] = {r[0].ring, r[0].ring, r[1].ring};
    uint64_t first = (uint64_t)((char *)r[0].readers[0] - (char *)r[0].arena);
    vp_gate_set_reader_bell(r[0].gate, 1, first);
    vp_ring_heartbeat(rings, 3, at(1));
    CHECK_EQUAL(vp_bell_ticket(r[0].readers[0]), 1);
    CHECK_EQUAL(vp_bell_ticket(r[0].readers[1]), 0);
    CHECK_EQUAL(vp_bell_ticket(r[1].readers[0]), 1);
    CHECK_EQUAL(vp_bell_ticket(r[1].readers[1]), 1);
    CHECK(add(r[0].ring, 2, 1) >= 0);
    CHECK_EQUAL(vp_bell_ticket(r[0].readers[0]), 2);
    vp_arena_free(r[0].arena, r[0].arena->capacity);
    vp_arena_free(r[1].arena, r[1].arena->capacity);
}

static void test_gates_are_found_where_they_were_made(void)
{
    ringing r = set_up();
    uint64_t at_gate = (uint64_t)((char *)r.gate - (char *)r.arena);
    CHECK(vp_gate_at(r.arena, at_gate) == r.gate);
    CHECK(vp_gate_at(r.arena, at_gate + VP_LINE) == NULL);
    CHECK(vp_gate_at(r.arena, at_gate + 1) == NULL);
    CHECK(vp_gate_at(r.arena, VP_LINE + r.arena->used) == NULL);
    CHECK(vp_gate_at(r.arena, UINT64_MAX - VP_LINE + 1) == NULL);
    CHECK_EQUAL(vp_gate_sources(r.gate), 1);
    CHECK_EQUAL(vp_gate_readers(r.gate), 2);
    vp_arena_free(r.arena, r.arena->capacity);
}

/* What was written over is found out before anybody goes where it points. */
static void test_gates_that_do_not_lie_in_what_was_allocated(void)
{
    ringing r = set_up();
    uint64_t at_gate = (uint64_t)((char *)r.gate - (char *)r.arena);
    vp_gate whole = *r.gate;
    uint64_t sizes[] = {0, UINT64_MAX, whole.ring_size + r.arena->used};
    for (int i = 0; i < 3; i++) {
        r.gate->ring_size = sizes[i];
        CHECK(vp_gate_at(r.arena, at_gate) == NULL);
        *r.gate = whole;
        r.gate->rings_at = sizes[i];
        CHECK(vp_gate_at(r.arena, at_gate) == NULL);
        *r.gate = whole;
    }
    r.gate->source_count = 2;
    CHECK(vp_gate_at(r.arena, at_gate) == NULL);
    r.gate->source_count = 1;
    r.gate->reader_count = 3;
    CHECK(vp_gate_at(r.arena, at_gate) == NULL);
    r.gate->reader_count = 2;
    r.arena->used = vp_gate_size((vp_gate_shape){1, 2, 2, 16, 0, false}) - 1;
    CHECK(vp_gate_at(r.arena, at_gate) == NULL);
    vp_arena_free(r.arena, r.arena->capacity);
}

int main(void)
{
    test_every_reader_gets_everything();
    test_the_slowest_reader_bounds_the_ring();
    test_sizes_of_payloads();
    for (uint64_t seed = 1; seed <= 5; seed++)
        test_random_payloads(seed);
    test_time_while_blocked_is_counted();
    test_sources_say_how_far_event_time_came();
    test_what_rings();
    test_one_call_rings_each_bell_once();
    test_gates_are_found_where_they_were_made();
    test_gates_that_do_not_lie_in_what_was_allocated();
}
