/* Tasks on threads of their own tell their logs, and evaluate whenever there is something to do. Results and tables are
 * as if all had been run on a model, one after the other.
 *
 *     test_evaluate_threads [seed]       other transactions
 */
#include <pthread.h>
#include <sched.h>

#include "tx_check.h"

enum { THREADS = 4, RUNS = 12, LOG_BYTES = 8192 };

static plan p;
static world w;

typedef struct {
    uint32_t log, written, checked;
    uint64_t at, checked_at, seed;
} task;

static void check_evaluated(task *self)
{
    vp_txlog *log = w.logs[self->log];
    uint64_t evaluated = vp_txlog_evaluated(log);
    while (self->checked_at < evaluated) {
        vp_tx *tx = vp_txlog_tx(log, &self->checked_at);
        check_result(tx, planned_at(&p, self->log, self->checked++));
        self->checked_at += tx->size;
    }
    vp_txlog_release(log, self->checked_at);
}

static void write_some(task *self)
{
    vp_txlog *log = w.logs[self->log];
    uint32_t count = random_below(&self->seed, 20);
    while (count-- && self->written < p.counts[self->log] &&
           write_planned(log, &self->at, planned_at(&p, self->log, self->written)))
        self->written++;
    vp_txlog_publish(log, self->at);
    bool is_all = self->written == p.counts[self->log];
    vp_txlog_collected(log, is_all ? VP_END : planned_at(&p, self->log, self->written)->position);
}

static void evaluate(const task *self)
{
    int32_t me = (int32_t)self->log, who;
    while (vp_txgroup_is_due(w.group, me)) {
        int told = vp_txgroup_evaluate(w.group, 1, me, &who);
        CHECK(told != VP_TX_NO_MEMORY);
        if (told == VP_TX_WAITS_ALONE && who == me)
            run_alone(&w);
        else
            return;
    }
}

static void *run(void *argument)
{
    task *self = argument;
    while (self->checked < p.counts[self->log] || vp_compare(vp_txgroup_evaluated(w.group), VP_END) != 0) {
        write_some(self);
        evaluate(self);
        check_evaluated(self);
        if (random_below(&self->seed, 4) == 0)
            sched_yield();
    }
    return NULL;
}

static void test_run(uint64_t *seed)
{
    model on;
    vp_arena *arena = vp_arena_new(world_size(LOG_BYTES));
    CHECK(arena);
    w = make_world(arena, &on, THREADS, LOG_BYTES);
    random_plan(&p, seed, THREADS, MOST_PLANNED, 50);
    plan_results(&p, &w, &on, NULL);
    task tasks[THREADS];
    pthread_t ids[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        tasks[i] = (task){.log = i, .seed = random_below(seed, UINT32_MAX)};
        CHECK(pthread_create(&ids[i], NULL, run, &tasks[i]) == 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
    check_tables(&w, &on);
    vp_txcounts counts;
    vp_txgroup_counts(w.group, &counts);
    CHECK_EQUAL(counts.transactions, p.count);
    CHECK_EQUAL(counts.late, 0);
    vp_arena_free(arena, world_size(LOG_BYTES));
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_evaluate_threads %llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (uint32_t i = 0; i < RUNS; i++)
        test_run(&seed);
    return 0;
}
