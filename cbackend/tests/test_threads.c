/* Producers and readers on threads of their own. What the unit tests cannot see, the thread sanitizer
 * does: an order that is too weak is a race on positions, slots or payloads. */
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { SOURCES = 3, READERS = 2, SLOTS = 8, TUPLES = 32, BYTES = 512, MOST = 7, TOTAL = 10000, MAX_RUNS = 16 };

typedef struct {
    vp_ring *ring;
    uint64_t payloads[SLOTS]; /* the first timestamp of each jumbo tuple; plain memory, as what goes by reference */
    uint64_t seed;
} producer;

static void *produce(void *argument)
{
    producer *self = argument;
    int64_t ts = 0;
    for (uint32_t added = 0; added < TOTAL;) {
        uint32_t count = 1 + random_below(&self->seed, MOST);
        vp_position data[MOST];
        for (uint32_t i = 0; i < count; i++)
            data[i] = at(ts + i);
        uint64_t bytes = random_below(&self->seed, 100);
        int64_t slot = vp_ring_claim(self->ring, &(vp_positions){.data = data, .length = count, .capacity = count}, 0, count, bytes);
        if (slot == VP_FULL) {
            sched_yield();
            continue;
        }
        CHECK(slot >= 0);
        self->payloads[slot] = (uint64_t)ts;
        fill(vp_ring_payload(self->ring, (uint32_t)slot, NULL), bytes, (uint64_t)ts);
        vp_ring_publish(self->ring);
        added += count;
        ts += count - 1 + random_below(&self->seed, 3); /* often the same timestamp again */
        if (random_below(&self->seed, 3) == 0)
            heartbeat(self->ring, at(ts));
    }
    vp_ring_close(self->ring);
    return NULL;
}

typedef struct {
    vp_merge *merge;
    const producer *producers;
    uint64_t seed;
    int64_t ts; /* of the last tuple */
    uint32_t source;
    uint64_t tuples;
} consumer;

static void check_run(vp_run run, const vp_position *positions, consumer *self)
{
    const producer *from = &self->producers[run.source];
    uint64_t bytes, first_ts = from->payloads[run.slot];
    const uint8_t *payload = vp_ring_payload(from->ring, run.slot, &bytes);
    CHECK(is_filled(payload, bytes, first_ts));
    CHECK_EQUAL(positions[0].ts, first_ts + run.first);
    for (uint32_t i = 0; i < run.count; i++) {
        int64_t ts = positions[i].ts;
        CHECK(ts > self->ts || (ts == self->ts && run.source >= self->source));
        self->ts = ts;
        self->source = run.source;
    }
    self->tuples += run.count;
}

static void *consume(void *argument)
{
    consumer *self = argument;
    vp_positions *into = vp_positions_new();
    vp_run runs[MAX_RUNS];
    while (!vp_merge_drained(self->merge)) {
        int64_t made = vp_merge_take(self->merge, into, 1 + random_below(&self->seed, 40), runs, MAX_RUNS);
        const vp_position *positions = into->data;
        for (int64_t i = 0; i < made; positions += runs[i++].count)
            check_run(runs[i], positions, self);
        into->length = 0;
        vp_merge_release(self->merge);
        if (made == 0)
            sched_yield();
    }
    vp_positions_free(into);
    return NULL;
}

static void test(uint32_t sources, uint32_t readers)
{
    static producer producers[SOURCES];
    consumer consumers[READERS];
    pthread_t producing[SOURCES], consuming[READERS];
    vp_gate *gate = new_gate((vp_gate_shape){sources, readers, SLOTS, TUPLES, BYTES, false});
    for (uint32_t i = 0; i < sources; i++) {
        producers[i] = (producer){.ring = vp_gate_ring(gate, i), .seed = i + 1};
        fast_forward(producers[i].ring, UINT64_MAX - TOTAL / 8); /* numbers wrap around on the way */
    }
    for (uint32_t i = 0; i < readers; i++) {
        consumers[i] = (consumer){vp_merge_new(gate, i), producers, .seed = 99 + i, .ts = -1};
        CHECK(pthread_create(&consuming[i], NULL, consume, &consumers[i]) == 0);
    }
    for (uint32_t i = 0; i < sources; i++)
        CHECK(pthread_create(&producing[i], NULL, produce, &producers[i]) == 0);
    uint64_t added = 0;
    for (uint32_t i = 0; i < sources; i++) {
        CHECK(pthread_join(producing[i], NULL) == 0);
        added += vp_gate_added(gate, i).added_tuples;
    }
    CHECK(added >= (uint64_t)TOTAL * sources);
    for (uint32_t i = 0; i < readers; i++) {
        CHECK(pthread_join(consuming[i], NULL) == 0);
        CHECK_EQUAL(consumers[i].tuples, added);
        vp_merge_free(consumers[i].merge);
    }
    free(gate);
}

int main(void)
{
    test(1, 1);
    test(1, READERS);
    test(SOURCES, 1);
    test(SOURCES, READERS);
}
