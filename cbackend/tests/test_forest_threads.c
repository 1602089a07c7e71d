/* Spouts and bolts on threads of their own track random trees: joints, failures, tuples that are held. Each root is
 * told once, as acked only if nothing of it was left and nothing failed; what is held in the end expires.
 *
 *     test_forest_threads [seed]       other trees
 *
 * Compiled with ACK_FIRST, bolts ack before they add, which is wrong, and must be seen.
 */
#include <pthread.h>
#include <sched.h>

#include "forest_check.h"

enum { SPOUTS = 2, BOLTS = 3, TABLES = SPOUTS + BOLTS, ROOTS = 3000, PENDING = 40, TREES = 2000, LINKS = 8000 };
enum { MOST_ROOTS = 6, HOPS = 4, MOST_HELD = 8, QUEUE = 1 << 16, REASON = 7 };

/* What a tuple carries: its tree, and the roots that it descends from, for the test to compare. */
typedef struct {
    uint64_t tree;
    uint32_t hops, root_count;
    uint32_t roots[MOST_ROOTS];
} tuple;

static struct {
    _Atomic uint32_t alive; /* tuples that carry it */
    _Atomic uint32_t failed;
    uint32_t told;          /* its spout's */
} records[SPOUTS * ROOTS];

static woods w;
static _Atomic uint32_t spouts_running;
static _Atomic uint64_t in_process;

/* -- the queue that all bolts read from: tuples cross in any order */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tuple queue[QUEUE];
static uint32_t queued;

static void put(const tuple *next)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    CHECK(queued < QUEUE);
    queue[queued++] = *next;
    CHECK(pthread_mutex_unlock(&lock) == 0);
}

static bool get(tuple *next, uint64_t *seed)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    bool found = queued > 0;
    if (found) {
        uint32_t chosen = random_below(seed, queued);
        *next = queue[chosen];
        queue[chosen] = queue[--queued];
        atomic_fetch_add(&in_process, 1);
    }
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return found;
}

/* -- what a tuple counts for */

static void count_in(const tuple *t)
{
    for (uint32_t i = 0; i < t->root_count; i++)
        atomic_fetch_add(&records[t->roots[i]].alive, 1);
}

static void count_out(const tuple *t)
{
    for (uint32_t i = 0; i < t->root_count; i++)
        atomic_fetch_sub(&records[t->roots[i]].alive, 1);
}

static void emit(const tuple *t)
{
    count_in(t);
    add_to(w, t->tree, 1);
    /* What it was emitted for is not done with, so only a failure can have ended the tree. */
    CHECK(vp_forest_alive(w.forest, t->tree) || atomic_load(&records[t->roots[0]].failed));
    put(t);
}

/* -- spouts */

typedef struct {
    uint32_t index;
    uint64_t seed;
    uint64_t ids[ROOTS];
    uint32_t begun, told;
    vp_endings *endings;
} spout;

static uint32_t number_of(const spout *self, uint64_t tree)
{
    for (uint32_t i = 0; i < self->begun; i++)
        if (self->ids[i] == tree)
            return self->index * ROOTS + i;
    CHECK(false);
    return 0;
}

static void hear(spout *self)
{
    for (uint64_t i = 0; i < self->endings->length; i++) {
        uint32_t root = number_of(self, self->endings->trees[i]);
        CHECK_EQUAL(records[root].told++, 0);
        CHECK_EQUAL(self->endings->reasons[i] != 0, atomic_load(&records[root].failed));
        CHECK(self->endings->reasons[i] || atomic_load(&records[root].alive) == 0);
        self->told++;
    }
    self->endings->length = 0;
}

static void *spout_run(void *argument)
{
    spout *self = argument;
    vp_table *table = table_of(w, self->index);
    while (self->begun < ROOTS) {
        if (self->begun - self->told < PENDING) {
            uint32_t root = self->index * ROOTS + self->begun;
            tuple t = {0, HOPS, 1, {root}};
            CHECK_EQUAL(vp_table_begin(table, 1, &t.tree), 1);
            self->ids[self->begun++] = t.tree;
            for (uint32_t i = random_below(&self->seed, 4); i > 0; i--)
                emit(&t);
            ack_one(w, t.tree);
        }
        if (vp_table_has_done(table))
            CHECK(vp_table_take(table, self->endings) >= 0);
        else
            sched_yield();
        hear(self);
    }
    atomic_fetch_sub(&spouts_running, 1);
    return NULL;
}

/* -- bolts */

typedef struct {
    uint32_t table;
    uint64_t seed;
    tuple held[MOST_HELD];
    uint32_t held_count;
} bolt;

static void merge_roots(tuple *into, const tuple *other)
{
    for (uint32_t i = 0; i < other->root_count; i++) {
        uint32_t j = 0;
        while (j < into->root_count && into->roots[j] != other->roots[i])
            j++;
        if (j == into->root_count)
            into->roots[into->root_count++] = other->roots[i];
    }
}

/* A tuple that descends from one, and from another if it is not NULL. */
static void emit_anchored(const bolt *self, const tuple *t, const tuple *other)
{
    tuple child = *t;
    child.hops--;
    if (!other || t->root_count + other->root_count > MOST_ROOTS) {
        emit(&child);
        return;
    }
    merge_roots(&child, other);
    int64_t joint = vp_table_join(table_of(w, self->table), (uint64_t[]){t->tree, other->tree}, 2);
    CHECK(joint >= 0);
    child.tree = (uint64_t)joint; /* 0 where both have failed */
    count_in(&child); /* before it is emitted: it is held open till then */
    emit(&child);
    count_out(&child);
    ack_one(w, child.tree);
}

static void answer(const tuple *t, bool is_held, bool fails)
{
    for (uint32_t i = 0; fails && i < t->root_count; i++)
        atomic_store(&records[t->roots[i]].failed, 1);
    count_out(t);
    if (fails)
        vp_forest_fail(w.forest, t->tree, REASON);
    else if (is_held)
        vp_forest_answer_held(w.forest, t->tree);
    else
        ack_one(w, t->tree);
}

static void answer_a_held_one(bolt *self)
{
    uint32_t chosen = random_below(&self->seed, self->held_count);
    answer(&self->held[chosen], true, random_below(&self->seed, 60) == 0);
    self->held[chosen] = self->held[--self->held_count];
}

static void process(bolt *self, const tuple *t)
{
#ifdef ACK_FIRST
    answer(t, false, false);
#endif
    for (uint32_t i = t->hops ? random_below(&self->seed, 3) : 0; i > 0; i--) {
        bool joins = self->held_count && random_below(&self->seed, 2);
        emit_anchored(self, t, joins ? &self->held[random_below(&self->seed, self->held_count)] : NULL);
    }
#ifndef ACK_FIRST
    if (self->held_count < MOST_HELD && random_below(&self->seed, 3) == 0) {
        self->held[self->held_count++] = *t;
        vp_forest_hold(w.forest, t->tree);
    } else
        answer(t, false, random_below(&self->seed, 60) == 0);
#endif
}

static void *bolt_run(void *argument)
{
    bolt *self = argument;
    vp_table *table = table_of(w, self->table);
    vp_endings *endings = vp_endings_new();
    for (bool more = true; more;) {
        tuple t;
        bool last = !atomic_load(&spouts_running) && !atomic_load(&in_process);
        if (get(&t, &self->seed)) {
            process(self, &t);
            atomic_fetch_sub(&in_process, 1);
        } else if (last)
            more = false;
        else if (atomic_load(&spouts_running) && self->held_count)
            answer_a_held_one(self);
        else
            sched_yield();
        CHECK_EQUAL(vp_table_take(table, endings), 0);
    }
    vp_endings_free(endings);
    return NULL;
}

/* What is held now stays so: all roots that are left are stalled. */
static void check_end(spout *self)
{
    vp_table *table = table_of(w, self->index);
    CHECK(vp_table_take(table, self->endings) >= 0);
    hear(self);
    CHECK_EQUAL(vp_table_expire(table, self->endings), 0);
    CHECK_EQUAL(vp_table_expire(table, self->endings), ROOTS - self->told);
    for (uint64_t i = 0; i < self->endings->length; i++) {
        uint32_t root = number_of(self, self->endings->trees[i]);
        CHECK_EQUAL(records[root].told++, 0);
        CHECK(atomic_load(&records[root].alive) > 0 && !atomic_load(&records[root].failed));
    }
    CHECK_EQUAL(vp_table_open(table), 0);
    CHECK_EQUAL(places_left(w, self->index), TREES);
    vp_endings_free(self->endings);
}

int main(int argc, char **argv)
{
    static spout spouts[SPOUTS];
    static bolt bolts[BOLTS];
    pthread_t threads[TABLES];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    w = plant_woods(TABLES, TREES, LINKS);
    atomic_store(&spouts_running, SPOUTS);
    for (uint32_t i = 0; i < SPOUTS; i++) {
        spouts[i] = (spout){.index = i, .seed = seed + i, .endings = vp_endings_new()};
        CHECK(pthread_create(&threads[i], NULL, spout_run, &spouts[i]) == 0);
    }
    for (uint32_t i = 0; i < BOLTS; i++) {
        bolts[i] = (bolt){.table = SPOUTS + i, .seed = seed + 100 + i};
        CHECK(pthread_create(&threads[SPOUTS + i], NULL, bolt_run, &bolts[i]) == 0);
    }
    for (uint32_t i = 0; i < TABLES; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (uint32_t i = 0; i < SPOUTS; i++)
        check_end(&spouts[i]);
    for (uint32_t i = SPOUTS; i < TABLES; i++) { /* joints of roots that are no more */
        expire(w, i);
        expire(w, i);
    }
    for (uint32_t sweep = 0; sweep < HOPS; sweep++)
        for (uint32_t i = SPOUTS; i < TABLES; i++)
            expire(w, i);
    for (uint32_t i = SPOUTS; i < TABLES; i++) {
        CHECK_EQUAL(places_left(w, i), TREES);
        CHECK_EQUAL(links_left(w, i), LINKS);
    }
    fell(w);
}
