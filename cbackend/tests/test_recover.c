/* A producer, or a reader, that dies at any of the named points, every time it comes there: its
 * successor goes on, and what readers see is what they would have seen without.
 *
 * Death is a jump out of the sources: like a kill, it leaves memory as it is, and nothing else. */
#include <setjmp.h>
#include <string.h>

#include "check.h"
#include "progress.h"

enum { JUMBOS = 40, SLOTS = 4, TUPLES = 16, BYTES = 128, MOST = 5 };

/* One jumbo tuple of the script, and how far the producer says it is behind it. */
typedef struct {
    int64_t ts;
    uint32_t count;
    uint64_t bytes;
    int64_t promise;
} step;

static step script[JUMBOS];
static vp_gate *gate;
static vp_ring *ring;
static vp_merge *merge;
static uint32_t next_jumbo, next_tuple; /* that the reader expects */
static jmp_buf death;
static uint32_t points_left; /* to pass before death */

static void die_some_time(const char *name)
{
    (void)name;
    if (points_left-- == 0)
        longjmp(death, 1);
}

static void write_script(uint64_t seed)
{
    int64_t ts = 0;
    for (uint32_t i = 0; i < JUMBOS; i++) {
        uint32_t count = 1 + random_below(&seed, MOST);
        script[i] = (step){ts, count, random_below(&seed, BYTES / 2), ts + count + random_below(&seed, 2)};
        ts = script[i].promise + random_below(&seed, 3);
    }
}

/* Checks one tuple after the other against the script. */
static void check_run(vp_run run, const vp_position *positions)
{
    for (uint32_t i = 0; i < run.count; i++) {
        CHECK(next_jumbo < JUMBOS);
        CHECK_EQUAL(run.first + i, next_tuple);
        CHECK_EQUAL(positions[i].ts, script[next_jumbo].ts + next_tuple);
        uint64_t bytes;
        const uint8_t *payload = vp_ring_payload(ring, run.slot, &bytes);
        CHECK_EQUAL(bytes, script[next_jumbo].bytes);
        CHECK(is_filled(payload, bytes, (uint64_t)script[next_jumbo].ts));
        if (++next_tuple == script[next_jumbo].count) {
            next_jumbo++;
            next_tuple = 0;
        }
    }
}

/* Takes up to `limit` tuples. */
static void read_some(uint64_t limit)
{
    vp_positions *into = vp_positions_new();
    vp_run runs[SLOTS + 1];
    int64_t made = vp_merge_take(merge, into, limit, runs, SLOTS + 1);
    const vp_position *positions = into->data;
    for (int64_t i = 0; i < made; positions += runs[i++].count)
        check_run(runs[i], positions);
    vp_positions_free(into);
}

/* Goes on with the script where the ring shows that it was left, until it can go no further. */
static void produce(void)
{
    uint64_t added = vp_gate_added(gate, 0).added_jumbos;
    if (added)
        heartbeat(ring, at(script[added - 1].promise));
    for (uint64_t i = added; i < JUMBOS; i++) {
        int64_t slot = add_with(ring, script[i].ts, script[i].count, script[i].bytes);
        if (slot == VP_FULL)
            return;
        CHECK(slot >= 0);
        heartbeat(ring, at(script[i].promise));
    }
    vp_ring_close(ring);
}

static void begin(void)
{
    gate = new_gate((vp_gate_shape){1, 1, SLOTS, TUPLES, BYTES, false});
    ring = vp_gate_ring(gate, 0);
    merge = vp_merge_new(gate, 0);
    next_jumbo = next_tuple = 0;
}

static void end(void)
{
    CHECK(vp_merge_drained(merge));
    CHECK_EQUAL(next_jumbo, JUMBOS);
    uint64_t tuples = 0, bytes = 0;
    for (uint32_t i = 0; i < JUMBOS; i++) {
        tuples += script[i].count;
        bytes += script[i].bytes;
    }
    CHECK_EQUAL(vp_gate_added(gate, 0).added_tuples, tuples);
    CHECK_EQUAL(vp_gate_added(gate, 0).added_bytes, bytes);
    CHECK_EQUAL(vp_gate_delivered(gate, 0, 0).waiting_tuples, 0);
    vp_merge_free(merge);
    free(gate);
}

/* What the successor of a producer may count on. */
static void check_recovered(vp_position promised)
{
    uint64_t added = vp_gate_added(gate, 0).added_jumbos;
    vp_position floor = vp_ring_floor(ring), progress;
    CHECK(vp_progress_read(&ring->progress, &progress));
    CHECK(vp_compare(promised, floor) <= 0);
    CHECK(vp_compare(floor, progress) == 0);
    if (added < JUMBOS)
        CHECK(vp_compare(floor, at(script[added].ts)) <= 0);
}

/* The greatest promise that a reader may have seen. */
static vp_position promised_before_death(void)
{
    vp_position known = vp_merge_frontier(merge), progress;
    if (vp_progress_read(&ring->progress, &progress) && vp_compare(progress, known) > 0)
        return progress;
    return known;
}

/* Recovers; dies on the way behind so many points, and recovers again. */
static void recover(uint32_t points)
{
    vp_position promised = promised_before_death();
    points_left = points;
    if (!setjmp(death))
        vp_ring_recover(ring);
    at_point = NULL;
    vp_ring_recover(ring);
    check_recovered(promised);
}

/* Dies once behind so many points, and, if told so, again while it recovers; false if it came to the
 * end before. */
static bool die_producing(uint32_t points, uint32_t points_of_recovery)
{
    static volatile bool died;
    died = false;
    begin();
    points_left = points;
    for (int round = 0; next_jumbo < JUMBOS; round++) {
        CHECK(round < 10 * JUMBOS);
        at_point = died ? NULL : die_some_time;
        if (!setjmp(death))
            produce();
        else {
            died = true;
            recover(points_of_recovery);
        }
        at_point = NULL;
        read_some(1 + (uint64_t)round % 7);
        vp_merge_release(merge);
    }
    produce();
    end();
    return died;
}

/* As if its process were gone: another reader takes its place, and gets again what it had not released. */
static void succeed_reader(void)
{
    uint64_t released = atomic_load(&vp_ring_head(ring, 0)->head);
    CHECK(released <= next_jumbo);
    vp_merge_free(merge);
    merge = vp_merge_new(gate, 0);
    next_jumbo = (uint32_t)released;
    next_tuple = 0;
    uint64_t added = vp_gate_added(gate, 0).added_tuples, before = 0;
    for (uint32_t i = 0; i < next_jumbo; i++)
        before += script[i].count;
    CHECK_EQUAL(vp_merge_waiting(merge), added - before);
}

static bool die_reading(uint32_t points)
{
    static volatile bool died;
    died = false;
    begin();
    points_left = points;
    for (int round = 0; next_jumbo < JUMBOS; round++) {
        CHECK(round < 10 * JUMBOS);
        produce();
        read_some(1 + (uint64_t)round % 7);
        at_point = died ? NULL : die_some_time;
        if (!setjmp(death))
            vp_merge_release(merge);
        else {
            died = true;
            succeed_reader();
        }
        at_point = NULL;
    }
    produce();
    end();
    return died;
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        write_script(seed);
        uint32_t points = 0;
        while (die_producing(points, UINT32_MAX))
            points++;
        CHECK(points > 5 * JUMBOS);
        for (uint32_t again = 0; again < 4; again++)
            for (points = 0; die_producing(points, again); points++)
                continue;
        for (points = 0; die_reading(points); points++)
            continue;
        CHECK(points > JUMBOS / 2);
    }
}
