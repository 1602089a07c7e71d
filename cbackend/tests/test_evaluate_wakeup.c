/* A task tells its log something while another one evaluates, at every point of that: one of the two evaluates it.
 * Nobody comes again.
 */
#include "tx_check.h"

enum { LOG_BYTES = 4096 };

static const vp_tx_instruction RAISE = {.code = VP_TX_ADD, .table = 2, .operand = 1};
static const char *const POINTS[] = {
    "lease: looked for", "evaluate: frontier", "evaluate: begun", "evaluate: between", "evaluated: not yet", "evaluated: done", "evaluated: log told",
    "evaluated: all told", "lease: held still", "lease: given", "evaluate: alone",
};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS };

static world w;
static uint64_t ends[2];
static const char *busy_point;
static int64_t told_there; /* up to which time the other one tells, then */
static bool goes_below;    /* it is below what is evaluated, and the other one collects nothing */
static vp_tx *put_there;

static vp_tx *put(uint32_t log, int64_t ts, uint16_t kind)
{
    planned one = {.position = at(ts), .log = log, .kind = kind, .count = kind == VP_TX_PROGRAM};
    one.steps[0] = RAISE;
    CHECK(write_planned(w.logs[log], &ends[log], &one));
    vp_txlog_publish(w.logs[log], ends[log]);
    return (vp_tx *)((char *)w.logs[log] + w.logs[log]->ring_at + ends[log] - bytes_of(&one));
}

static void evaluate(int32_t me)
{
    int32_t who;
    while (vp_txgroup_is_due(w.group, me) && vp_txgroup_evaluate(w.group, 1, me, &who) == VP_TX_WAITS_ALONE)
        if (who == me)
            vp_txgroup_alone_done(w.group, VP_TX_DONE);
        else
            evaluate(who); /* the one that it wakes */
}

static void tell_there(const char *name)
{
    if (!busy_point || strcmp(name, busy_point) != 0)
        return;
    busy_point = NULL;
    put_there = put(1, goes_below ? told_there : told_there - 1, VP_TX_PROGRAM);
    if (!goes_below)
        vp_txlog_collected(w.logs[1], at(told_there));
    evaluate(1);
}

static uint64_t late(void)
{
    static uint64_t before;
    vp_txcounts counts;
    vp_txgroup_counts(w.group, &counts);
    uint64_t more = counts.late - before;
    before = counts.late;
    return more;
}

/* The second log is told up to some time, and then, while the first one's task evaluates that, up to a later one. */
static void test_collected(const char *point, uint16_t kind, uint32_t log)
{
    busy_point = NULL;
    vp_txlog_collected(w.logs[1], at(told_there + 5));
    vp_tx *first = put(log, told_there + 5, VP_TX_PROGRAM), *alone = put(log, told_there + 6, kind);
    vp_tx *last = put(log, told_there + 8, VP_TX_PROGRAM);
    vp_txlog_collected(w.logs[0], at(told_there + 20));
    vp_txlog_collected(w.logs[1], at(told_there + 6));
    told_there += 10;
    busy_point = point;
    evaluate(0);
    bool has_passed = !busy_point;
    if (!has_passed)
        tell_there(busy_point); /* where there is no such point, behind it all */
    CHECK_EQUAL(first->status, VP_TX_DONE);
    CHECK_EQUAL(alone->status, VP_TX_DONE);
    CHECK_EQUAL(last->status, VP_TX_DONE);
    CHECK_EQUAL(put_there->status, VP_TX_DONE);
    CHECK_EQUAL(late(), 0);
    CHECK_EQUAL(vp_txgroup_evaluated(w.group).ts, told_there);
    CHECK_EQUAL(atomic_load(&w.group->holder), 0);
}

/* What the second one tells there is below all that is evaluated. */
static void test_late(const char *point)
{
    vp_txcounts before, behind;
    vp_txgroup_counts(w.group, &before);
    goes_below = true;
    vp_txlog_collected(w.logs[0], at(told_there + 30));
    vp_txlog_collected(w.logs[1], at(told_there + 30));
    put(0, told_there + 3, VP_TX_PROGRAM);
    busy_point = point;
    evaluate(0);
    if (busy_point)
        tell_there(busy_point);
    goes_below = false;
    vp_txgroup_counts(w.group, &behind);
    CHECK_EQUAL(behind.transactions, before.transactions + 2);
    late();
    CHECK(!vp_txgroup_is_due(w.group, 0) && !vp_txgroup_is_due(w.group, 1));
    told_there += 30;
}

int main(void)
{
    model on;
    vp_arena *arena = vp_arena_new(world_size(LOG_BYTES));
    CHECK(arena);
    at_point = tell_there;
    for (uint32_t point = 0; point < POINT_COUNT; point++)
        for (uint32_t kind = VP_TX_PROGRAM; kind <= VP_TX_ALONE; kind++)
            for (uint32_t log = 0; log < 2; log++) {
                vp_arena_free(arena, world_size(LOG_BYTES));
                arena = vp_arena_new(world_size(LOG_BYTES));
                CHECK(arena);
                w = make_world(arena, &on, 2, LOG_BYTES);
                ends[0] = ends[1] = 0;
                late();
                told_there = 100;
                test_collected(POINTS[point], (uint16_t)kind, log);
                test_collected(POINTS[(point + 1) % POINT_COUNT], (uint16_t)kind, 1 - log);
                test_late(POINTS[point]);
            }
    vp_arena_free(arena, world_size(LOG_BYTES));
    printf("test_evaluate_wakeup\n");
    return 0;
}
