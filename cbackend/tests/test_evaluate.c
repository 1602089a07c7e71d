/* Random transactions are evaluated with random frontiers, and have results and tables as if each were run on a model,
 * one after the other, in the order of all. Then late ones, programs that are too long for one commit, and full logs.
 *
 *     test_evaluate [seed]       other transactions
 */
#include "tx_check.h"

enum { LOG_BYTES = 1 << 20, RUNS = 60 };

static plan p;

/* A task, as far as it has come. */
typedef struct {
    uint32_t log, written, checked;
    uint64_t at, checked_at;
} task;

static void check_evaluated(const world *w, task *of)
{
    vp_txlog *log = w->logs[of->log];
    while (of->checked_at < vp_txlog_evaluated(log)) {
        vp_tx *tx = vp_txlog_tx(log, &of->checked_at);
        check_result(tx, planned_at(&p, of->log, of->checked++));
        of->checked_at += tx->size;
    }
    CHECK_EQUAL(of->checked_at, vp_txlog_evaluated(log));
    vp_txlog_release(log, of->checked_at);
}

static void write_some(const world *w, task *of, uint64_t *seed)
{
    for (uint32_t count = random_below(seed, 12); count > 0 && of->written < p.counts[of->log]; count--) {
        if (!write_planned(w->logs[of->log], &of->at, planned_at(&p, of->log, of->written)))
            break;
        of->written++;
    }
    vp_txlog_publish(w->logs[of->log], of->at);
    bool is_all = of->written == p.counts[of->log];
    vp_txlog_collected(w->logs[of->log], is_all ? VP_END : planned_at(&p, of->log, of->written)->position);
}

/* All of it, and nothing else: whatever lies strictly below what all have collected. */
static void check_progress(const world *w, task *tasks)
{
    uint32_t holding, least = 0;
    vp_position frontier = vp_txgroup_frontier(w->group, &holding);
    CHECK(vp_compare(vp_txgroup_evaluated(w->group), frontier) == 0);
    while (least < p.count && vp_compare(p.all[least].position, frontier) < 0)
        least++;
    uint32_t checked = 0;
    for (uint32_t i = 0; i < w->log_count; i++) {
        check_evaluated(w, &tasks[i]);
        checked += tasks[i].checked;
    }
    CHECK_EQUAL(checked, least);
}

static void evaluate(const world *w, task *tasks, uint32_t caller)
{
    int32_t me = (int32_t)caller, who = -1;
    for (int told; (told = vp_txgroup_evaluate(w->group, 1, me, &who)) != VP_TX_NOTHING;) {
        CHECK(told == VP_TX_PROGRESSED || told == VP_TX_WAITS_ALONE);
        if (told == VP_TX_WAITS_ALONE && who == me)
            run_alone(w);
        else if (told == VP_TX_WAITS_ALONE) {
            CHECK_EQUAL(vp_txgroup_evaluate(w->group, 1, (who + 1) % (int32_t)w->log_count, &who), VP_TX_NOTHING);
            me = who;
        }
    }
    CHECK(!vp_txgroup_is_due(w->group, me));
    check_progress(w, tasks);
}

static vp_arena *new_arena(void)
{
    vp_arena *arena = vp_arena_new(world_size(LOG_BYTES));
    CHECK(arena);
    return arena;
}

static void free_arena(vp_arena *arena)
{
    vp_arena_free(arena, world_size(LOG_BYTES));
}

static void check_counts(const world *w, uint64_t transactions, uint64_t late)
{
    vp_txcounts counts;
    uint64_t aborted = 0, instructions = 0;
    for (uint32_t i = 0; i < p.count; i++) {
        aborted += p.all[i].expected.status != VP_TX_DONE;
        instructions += p.all[i].count;
    }
    vp_txgroup_counts(w->group, &counts);
    CHECK_EQUAL(counts.transactions, transactions);
    CHECK_EQUAL(counts.aborted, aborted);
    CHECK_EQUAL(counts.instructions, instructions);
    CHECK_EQUAL(counts.late, late);
    CHECK(counts.evaluations > 0 && counts.evaluations <= counts.transactions);
}

/* Each status must have come up, else the transactions are too tame. */
static uint32_t statuses[VP_TX_FAILED_ALONE + 1];

static void test_random(uint64_t *seed)
{
    vp_arena *arena = new_arena();
    model on;
    uint32_t logs = 1 + random_below(seed, MOST_LOGS);
    world w = make_world(arena, &on, logs, random_below(seed, 2) ? LOG_BYTES : 4096);
    task tasks[MOST_LOGS] = {{0}};
    random_plan(&p, seed, logs, 1 + random_below(seed, MOST_PLANNED), random_below(seed, 2) * 40);
    plan_results(&p, &w, &on, NULL);
    for (uint32_t i = 0; i < logs; i++)
        tasks[i].log = i;
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (uint32_t i = 0; i < logs; i++) {
            if (random_below(seed, 3))
                write_some(&w, &tasks[i], seed);
            is_done &= tasks[i].written == p.counts[i];
        }
        if (random_below(seed, 2))
            evaluate(&w, tasks, random_below(seed, logs));
    }
    for (uint32_t i = 0; i < logs; i++)
        write_some(&w, &tasks[i], seed);
    evaluate(&w, tasks, 0);
    CHECK(vp_compare(vp_txgroup_evaluated(w.group), VP_END) == 0);
    check_tables(&w, &on);
    check_counts(&w, p.count, 0);
    for (uint32_t i = 0; i < p.count; i++)
        statuses[p.all[i].expected.status]++;
    free_arena(arena);
}

/* -- transactions below what was evaluated */

static vp_tx *put(const world *w, uint32_t log, uint64_t *at, int64_t ts, const vp_tx_instruction *steps, uint32_t count)
{
    planned one = {.position = {ts, 0, 0, 0}, .log = log, .kind = VP_TX_PROGRAM, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        one.steps[i] = steps[i];
        one.registers += writes(steps[i].code);
    }
    CHECK(write_planned(w->logs[log], at, &one));
    vp_txlog_publish(w->logs[log], *at);
    return (vp_tx *)((char *)w->logs[log] + w->logs[log]->ring_at + *at - bytes_of(&one));
}

static uint64_t late_of(const world *w)
{
    vp_txcounts counts;
    vp_txgroup_counts(w->group, &counts);
    return counts.late;
}

static void test_late(void)
{
    static const vp_tx_instruction raise[] = {{.code = VP_TX_ADD, .table = 2, .operand = 1}, {.code = VP_TX_READ, .table = 2}};
    vp_arena *arena = new_arena();
    model on;
    world w = make_world(arena, &on, 2, 4096);
    int64_t first = on.rows[2][0].words[0];
    uint64_t ends[2] = {0, 0};
    int32_t who;
    vp_txlog_collected(w.logs[0], at(10));
    vp_txlog_collected(w.logs[1], at(20));
    CHECK_EQUAL(vp_txgroup_evaluate(w.group, 1, 0, &who), VP_TX_PROGRESSED);
    CHECK_EQUAL(vp_txgroup_evaluate(w.group, 1, 0, &who), VP_TX_NOTHING);
    /* One at the frontier is not late, and waits; one below it goes at once, by whomever. */
    vp_tx *waits = put(&w, 0, &ends[0], 10, raise, 2);
    CHECK_EQUAL(vp_txgroup_evaluate(w.group, 1, 0, &who), VP_TX_PROGRESSED);
    CHECK(!vp_txgroup_is_due(w.group, 0));
    CHECK_EQUAL(vp_txgroup_evaluate(w.group, 1, 0, &who), VP_TX_NOTHING);
    CHECK_EQUAL(waits->status, VP_TX_PENDING);
    vp_tx *late = put(&w, 1, &ends[1], 3, raise, 2);
    CHECK(vp_txgroup_is_due(w.group, 1));
    CHECK_EQUAL(vp_txgroup_evaluate(w.group, 1, 1, &who), VP_TX_PROGRESSED);
    CHECK_EQUAL(late->status, VP_TX_DONE);
    CHECK_EQUAL(vp_tx_registers(late)[0], first + 1);
    CHECK_EQUAL(late_of(&w), 1);
    /* Late ones stand before all others, and do not hold positions back. */
    late = put(&w, 1, &ends[1], 4, raise, 2);
    vp_tx *last = put(&w, 1, &ends[1], 25, raise, 2);
    vp_tx *behind = put(&w, 1, &ends[1], 24, raise, 2); /* below the one before it: counted as well */
    vp_txlog_collected(w.logs[0], at(40));
    vp_txlog_collected(w.logs[1], at(30));
    vp_txlog_collected(w.logs[1], at(29));
    CHECK(vp_txlog_is_collected(w.logs[1]).ts == 30);
    CHECK_EQUAL(vp_txgroup_holding(w.group), 1);
    CHECK_EQUAL(vp_txgroup_evaluate(w.group, 1, -1, &who), VP_TX_PROGRESSED);
    CHECK_EQUAL(vp_tx_registers(late)[0], first + 2);
    CHECK_EQUAL(vp_tx_registers(waits)[0], first + 3);
    CHECK_EQUAL(vp_tx_registers(last)[0], first + 4);
    CHECK_EQUAL(vp_tx_registers(behind)[0], first + 5);
    CHECK_EQUAL(late_of(&w), 3);
    CHECK_EQUAL(vp_txgroup_evaluated(w.group).ts, 30);
    free_arena(arena);
}

/* From a checkpoint on, what lies below it is late. */
static void test_begin(void)
{
    static const vp_tx_instruction raise[] = {{.code = VP_TX_ADD, .table = 2, .operand = 1}};
    vp_arena *arena = new_arena();
    model on;
    world w = make_world(arena, &on, 1, 4096);
    uint64_t end = 0;
    int32_t who;
    vp_txgroup_begin_at(w.group, at(100));
    vp_tx *late = put(&w, 0, &end, 99, raise, 1), *waits = put(&w, 0, &end, 100, raise, 1);
    CHECK_EQUAL(vp_txgroup_evaluated(w.group).ts, 100);
    vp_txlog_collected(w.logs[0], at(100));
    CHECK_EQUAL(vp_txgroup_evaluate(w.group, 1, 0, &who), VP_TX_PROGRESSED);
    CHECK_EQUAL(late->status, VP_TX_PENDING + 1);
    CHECK_EQUAL(waits->status, VP_TX_PENDING);
    CHECK_EQUAL(late_of(&w), 1);
    free_arena(arena);
}

/* -- the ring */

static void test_ring(void)
{
    vp_arena *arena = new_arena();
    vp_txlog *log = vp_txlog_format(arena, region(arena, vp_txlog_size(4096)), 4096, 0, 0);
    CHECK_EQUAL(vp_txlog_size(4095), 0);
    CHECK_EQUAL(vp_txlog_size(2048), 0);
    CHECK_EQUAL(vp_txlog_size(UINT64_C(1) << 32), 0);
    uint64_t at = 0;
    CHECK(!vp_txlog_room(log, &at, 2064));
    CHECK(vp_txlog_room(log, &at, 2048));
    at += 2048;
    CHECK(vp_txlog_room(log, &at, 1040));
    at += 1040;
    CHECK(!vp_txlog_room(log, &at, 1040)); /* the ring's end, and then what is not released */
    CHECK_EQUAL(at, 3088);
    vp_txlog_publish(log, at);
    vp_txlog_release(log, 1024);
    CHECK(!vp_txlog_room(log, &at, 1040));
    vp_txlog_release(log, 1040);
    void *begin = vp_txlog_room(log, &at, 1040);
    CHECK_EQUAL(at, 4096);
    CHECK(begin == (char *)log + log->ring_at);
    ((vp_tx *)begin)->kind = VP_TX_PROGRAM;
    at = 3088;
    CHECK(vp_txlog_tx(log, &at) == begin);
    CHECK_EQUAL(at, 4096);
    CHECK_EQUAL(vp_txlog_tail(log), 3088);
    CHECK_EQUAL(vp_txlog_head(log), 1040);
    free_arena(arena);
}

/* -- more words than between two commits, and than there is room for */

static void test_long(uint32_t steps, uint32_t columns, int expected)
{
    enum { BYTES = 1 << 21 };
    uint64_t capacity = (1 << 23) + vp_txgroup_size(1, 1);
    vp_arena *arena = vp_arena_new(capacity);
    CHECK(arena);
    vp_txgroup *group = vp_txgroup_format(arena, region(arena, vp_txgroup_size(1, 1)), 1, 1);
    uint64_t table_at = region(arena, vp_shared_size(1, columns, 0)), log_at = region(arena, vp_txlog_size(BYTES)), at = 0;
    vp_shared *table = vp_shared_format(arena, table_at, 1, columns, 0, NULL);
    CHECK_EQUAL(vp_shared_enter(table, 7, "", 0), 0);
    vp_txlog *log = vp_txlog_format(arena, log_at, BYTES, 0, 0);
    vp_txgroup_set_table(group, 0, table_at);
    vp_txgroup_set_log(group, 0, log_at);
    uint32_t size = (uint32_t)(sizeof(vp_tx) + steps * sizeof(vp_tx_instruction));
    vp_tx *tx = vp_txlog_room(log, &at, size);
    CHECK(tx);
    *tx = (vp_tx){.size = size, .kind = VP_TX_PROGRAM, .program = (uint16_t)steps, .ts = 1};
    for (uint32_t i = 0; i < steps; i++)
        vp_tx_program(tx)[i] = (vp_tx_instruction){.code = i % 2 ? VP_TX_PUT : VP_TX_DELETE};
    vp_txlog_publish(log, at + size);
    vp_txlog_collected(log, VP_END);
    int32_t who;
    CHECK_EQUAL(vp_txgroup_evaluate(group, 1, 0, &who), expected);
    CHECK_EQUAL(vp_shared_is_present(table, 0), expected == VP_TX_PROGRESSED);
    CHECK_EQUAL(vp_txgroup_evaluate(group, 1, 0, &who), expected == VP_TX_PROGRESSED ? VP_TX_NOTHING : expected);
    vp_arena_free(arena, capacity);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_evaluate %llu\n", (unsigned long long)seed);
    fflush(stdout);
    test_ring();
    test_late();
    test_begin();
    test_long(60000, 1, VP_TX_PROGRESSED);
    test_long(6000, 64, VP_TX_PROGRESSED);
    test_long(60000, 64, VP_TX_NO_MEMORY);
    for (uint32_t i = 0; i < RUNS; i++)
        test_random(&seed);
    for (uint32_t status = VP_TX_DONE; status <= VP_TX_FAILED_ALONE; status++)
        CHECK(statuses[status] > 100);
    return 0;
}
