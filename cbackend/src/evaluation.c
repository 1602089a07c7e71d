#include "evaluation.h"

#include "crash.h"

/* -- the logs in their order */

static bool comes_first(const vp_txgroup *group, uint64_t one, uint64_t other)
{
    const vp_txlog *a = vp_txgroup_log(group, one), *b = vp_txgroup_log(group, other);
    if (a->component != b->component)
        return a->component < b->component;
    return a->task != b->task ? a->task < b->task : one < other;
}

/* By insertion, once. */
static void sort_logs(vp_txgroup *group)
{
    vp_txcursor *cursors = vp_txgroup_cursors(group);
    uint64_t sorted = 0;
    for (uint64_t number = 0; number < group->logs; number++) {
        if (!vp_txgroup_members(group)[number].log)
            continue;
        uint64_t at = sorted++;
        for (; at > 0 && comes_first(group, number, cursors[at - 1].number); at--)
            cursors[at].number = cursors[at - 1].number;
        cursors[at].number = number;
    }
    group->sorted = sorted;
}

static vp_contender play(vp_evaluation *run, uint64_t node)
{
    if (node >= run->order.count)
        return (vp_contender){run->order.heads[node - run->order.count]->ts, node - run->order.count};
    vp_contender left = play(run, 2 * node);
    run->order.losers[node] = play(run, 2 * node + 1);
    return vp_match(&run->order, &run->order.losers[node], left);
}

static void open_logs(vp_evaluation *run)
{
    vp_txgroup *group = run->group;
    if (!group->sorted)
        sort_logs(group);
    const vp_position **heads = (const vp_position **)((char *)group + group->heads_at);
    run->order = (vp_tournament){group->sorted, {0, 0}, (vp_contender *)((char *)group + group->losers_at), heads};
    for (uint64_t turn = 0; turn < group->sorted; turn++) {
        vp_txcursor *cursor = &run->cursors[turn];
        vp_txlog *log = vp_txgroup_log(group, cursor->number);
        const vp_word *done = &vp_txgroup_members(group)[cursor->number].done;
        cursor->ring = (char *)log + log->ring_at;
        cursor->mask = log->bytes - 1;
        cursor->at = cursor->reached = atomic_load_explicit(done, memory_order_relaxed);
        cursor->tail = vp_txlog_tail(log);
        heads[turn] = vp_cursor_head(cursor);
    }
    run->order.winner = play(run, 1);
}

static void open_tables(vp_evaluation *run)
{
    const vp_txgroup *group = run->group;
    uint64_t most_columns = 0;
    for (uint32_t number = 0; number < group->tables; number++) {
        const vp_shared *table = vp_txgroup_table(group, number);
        run->tables[number] = (vp_txtable){(char *)table + table->rows_at, table->stride, table,
                                           vp_txgroup_elements(group) + number * VP_SHARED_COLUMNS};
        most_columns = table->columns > most_columns ? table->columns : most_columns;
    }
    run->most_words = most_columns + 4;
}

/* -- commits */

void vp_evaluation_commit(vp_evaluation *run)
{
    vp_txundo undo = vp_txgroup_undo(run->group);
    run->has_run |= run->counts.transactions > 0;
    for (uint64_t turn = 0; turn < run->order.count; turn++) {
        const vp_txcursor *cursor = &run->cursors[turn];
        vp_word *done = &vp_txgroup_members(run->group)[cursor->number].done;
        if (cursor->reached != atomic_load_explicit(done, memory_order_relaxed))
            run->length = vp_undo_write(undo, run->length, done, cursor->reached);
    }
    /* A task may write over what it is told of. */
    run->reached = (vp_position){run->latest->ts, run->latest->hi, run->latest->lo, 0};
    run->latest = &run->reached;
    run->length = vp_txgroup_count(run->group, run->length, &run->counts);
    vp_txgroup_commit(run->group);
    run->length = 0;
    run->counts = (vp_txcounts){0};
}

uint64_t vp_evaluation_commit_words(const vp_evaluation *run)
{
    return run->order.count + VP_TXCOUNTS + 4;
}

/* Notes of each log whether its next transaction has been seen to lie at the frontier or above. */
static void note_waiting(const vp_evaluation *run)
{
    for (uint64_t turn = 0; turn < run->order.count; turn++) {
        const vp_txcursor *cursor = &run->cursors[turn];
        vp_txlog *log = vp_txgroup_log(run->group, cursor->number);
        if (cursor->at != cursor->tail)
            atomic_store_explicit(&log->evaluator.waits, cursor->reached, memory_order_relaxed);
    }
}

static void begin(vp_evaluation *run, vp_txgroup *group)
{
    uint32_t holding;
    run->group = group;
    run->cursors = vp_txgroup_cursors(group);
    run->length = 0;
    run->counts = (vp_txcounts){0};
    run->has_run = false;
    run->reached = vp_txgroup_evaluated(group);
    run->latest = &run->reached;
    run->frontier = vp_txgroup_frontier(group, &holding);
    VP_CRASH_POINT("evaluate: frontier");
    open_tables(run);
    open_logs(run);
    VP_CRASH_POINT("evaluate: begun");
}

/* With the lease. */
static int evaluate_once(vp_txgroup *group, int32_t *who, vp_evaluator evaluator, void *context)
{
    vp_evaluation run;
    begin(&run, group);
    int result = evaluator(&run, context);
    uint64_t turn = run.order.winner.source;
    bool is_alone = result == VP_TX_WAITS_ALONE;
    if (result != VP_TX_NO_MEMORY)
        run.length = vp_txgroup_reach(group, run.length, is_alone ? vp_tx_position(vp_cursor_next(&run.cursors[turn])) : run.frontier);
    run.counts.evaluations = run.has_run || run.counts.transactions;
    note_waiting(&run);
    vp_evaluation_commit(&run);
    if (is_alone) {
        *who = (int32_t)run.cursors[turn].number;
        atomic_store_explicit(&group->alone, (uint32_t)*who + 1, memory_order_seq_cst);
        VP_CRASH_POINT("evaluate: alone");
    }
    return result;
}

int vp_evaluate_by(vp_txgroup *group, uint32_t holder, int32_t me, int32_t *who, vp_evaluator evaluator, void *context)
{
    int result = VP_TX_NOTHING;
    while (vp_txgroup_is_due(group, me) && vp_txgroup_take(group, holder)) {
        uint64_t said = vp_txgroup_said(group);
        result = evaluate_once(group, who, evaluator, context);
        if (result == VP_TX_WAITS_ALONE && *who == me)
            return result;
        vp_txgroup_give(group);
        if (result != VP_TX_PROGRESSED || vp_txgroup_said(group) == said)
            break;
    }
    return result;
}
