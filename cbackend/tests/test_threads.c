/* Producers and the consumer on threads of their own. What the unit tests cannot see, the thread
 * sanitizer does: an order that is too weak is a race on positions, slots or payloads. */
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { SOURCES = 2, SLOTS = 8, TUPLES = 32, MOST = 7, TOTAL = 20000, MAX_RUNS = 16 };

typedef struct {
    vp_ring *ring;
    uint64_t payloads[SLOTS]; /* the first timestamp of each jumbo tuple; plain memory, as a payload is */
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
        int64_t slot = vp_ring_claim(self->ring, &(vp_positions){data, count, count}, 0, count, 0);
        if (slot == VP_FULL) {
            sched_yield();
            continue;
        }
        CHECK(slot >= 0);
        self->payloads[slot] = (uint64_t)ts;
        vp_ring_publish(self->ring);
        added += count;
        ts += count - 1 + random_below(&self->seed, 3); /* often the same timestamp again */
        if (random_below(&self->seed, 3) == 0)
            heartbeat(self->ring, at(ts));
    }
    heartbeat(self->ring, VP_END);
    return NULL;
}

typedef struct {
    int64_t ts;
    uint32_t source;
    uint64_t tuples;
} progress_of_consumer;

static void check_run(vp_run run, const vp_position *positions, const producer *from, progress_of_consumer *seen)
{
    CHECK_EQUAL(positions[0].ts, from->payloads[run.slot] + run.first);
    for (uint32_t i = 0; i < run.count; i++) {
        int64_t ts = positions[i].ts;
        CHECK(ts > seen->ts || (ts == seen->ts && run.source >= seen->source));
        seen->ts = ts;
        seen->source = run.source;
    }
    seen->tuples += run.count;
}

static void consume(vp_merge *merge, const producer *producers, uint64_t seed, progress_of_consumer *seen)
{
    vp_positions *into = vp_positions_new();
    vp_run runs[MAX_RUNS];
    while (!vp_merge_drained(merge)) {
        int64_t made = vp_merge_take(merge, into, 1 + random_below(&seed, 40), runs, MAX_RUNS);
        const vp_position *positions = into->data;
        for (int64_t i = 0; i < made; positions += runs[i++].count)
            check_run(runs[i], positions, &producers[runs[i].source], seen);
        into->length = 0;
        vp_merge_release(merge);
        if (made == 0)
            sched_yield();
    }
    vp_positions_free(into);
}

static void test(uint32_t sources)
{
    static producer producers[SOURCES];
    vp_gate *gate = new_gate((vp_gate_shape){sources, 1, SLOTS, TUPLES, 0});
    pthread_t threads[SOURCES];
    for (uint32_t i = 0; i < sources; i++) {
        producers[i] = (producer){.ring = vp_gate_ring(gate, i), .seed = i + 1};
        fast_forward(producers[i].ring, UINT64_MAX - TOTAL / 8); /* numbers wrap around on the way */
    }
    vp_merge *merge = vp_merge_new(gate, 0);
    for (uint32_t i = 0; i < sources; i++)
        CHECK(pthread_create(&threads[i], NULL, produce, &producers[i]) == 0);
    progress_of_consumer seen = {.ts = -1};
    consume(merge, producers, 99, &seen);
    uint64_t added = 0;
    for (uint32_t i = 0; i < sources; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        added += vp_gate_added(gate, i).added_tuples;
    }
    CHECK_EQUAL(seen.tuples, added);
    CHECK(added >= (uint64_t)TOTAL * sources);
    vp_merge_free(merge);
    free(gate);
}

int main(void)
{
    for (uint32_t sources = 1; sources <= SOURCES; sources++)
        test(sources);
}
