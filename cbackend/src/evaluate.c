/* The serial evaluator: all logs of a group, merged by position, component and task, one transaction after the other on
 * one core. For the programs of these workloads that is faster than any number of cores that wait for each other: what
 * a chain or a lock costs is more than the transaction.
 *
 * Bound.   What is collected is read before the tails: so all that lies strictly below the least collected position is
 *          there. Equal positions may still come, hence strictly.
 * Order.   A tournament over the logs (tournament.h), whose sources are ordered by component and task. Late transactions
 *          lie below all that is still to come, so it puts them first.
 * Commits. Behind every few thousand words; see txgroup.c.
 */
#include "crash.h"
#include "program.h"
#include "txgroup.h"

/* Words between two commits: so that entries stay in the first cache. */
enum { COMMIT_EACH = 2048 };

typedef struct {
    vp_txgroup *group;
    vp_txmember *members;
    vp_tournament order;
    vp_position frontier, latest; /* evaluated last, or below what everything is evaluated */
    uint64_t length;              /* undo entries that count */
    uint64_t most_words;          /* that an instruction can write */
    vp_txcounts counts;           /* since the last commit */
    bool has_run;                 /* any transaction */
    vp_txtable tables[VP_TX_TABLES];
} evaluation;

static bool is_below(const vp_position *a, const vp_position *b)
{
    return (a->ts < b->ts) | ((a->ts == b->ts) & ((a->hi < b->hi) | ((a->hi == b->hi) & (a->lo < b->lo))));
}

/* -- the logs in their order */

static bool comes_first(const vp_txgroup *group, uint64_t one, uint64_t other)
{
    const vp_txlog *a = vp_txgroup_log(group, one), *b = vp_txgroup_log(group, other);
    if (a->component != b->component)
        return a->component < b->component;
    return a->task != b->task ? a->task < b->task : one < other;
}

/* By insertion, once. */
static void sort_members(vp_txgroup *group)
{
    vp_txmember *members = vp_txgroup_members(group);
    uint64_t sorted = 0;
    for (uint64_t number = 0; number < group->logs; number++) {
        if (!members[number].log)
            continue;
        uint64_t at = sorted++;
        for (; at > 0 && comes_first(group, number, members[at - 1].next); at--)
            members[at].next = members[at - 1].next;
        members[at].next = number;
    }
    group->sorted = sorted;
}

/* The source at a turn, as the tournament counts them. */
static vp_txmember *source_at(const evaluation *run, uint64_t turn)
{
    return &run->members[run->members[turn].next];
}

/* Goes on to the next transaction, or to the end of all. */
static void find_head(vp_txmember *member)
{
    while (member->at != member->tail) {
        const vp_tx *tx = (const vp_tx *)(member->ring + (member->at & member->mask));
        if (tx->kind != VP_TX_PAD) {
            member->head = vp_tx_position(tx);
            return;
        }
        member->at += tx->size;
    }
    member->head = VP_END;
}

static vp_contender play(evaluation *run, uint64_t node)
{
    if (node >= run->order.count)
        return (vp_contender){run->order.heads[node - run->order.count]->ts, node - run->order.count};
    vp_contender left = play(run, 2 * node);
    run->order.losers[node] = play(run, 2 * node + 1);
    return vp_match(&run->order, &run->order.losers[node], left);
}

static void open_logs(evaluation *run)
{
    vp_txgroup *group = run->group;
    if (!group->sorted)
        sort_members(group);
    const vp_position **heads = (const vp_position **)((char *)group + group->heads_at);
    run->order = (vp_tournament){group->sorted, {0, 0}, (vp_contender *)((char *)group + group->losers_at), heads};
    for (uint64_t turn = 0; turn < group->sorted; turn++) {
        uint64_t number = run->members[turn].next;
        vp_txmember *member = &run->members[number];
        vp_txlog *log = vp_txgroup_log(group, number);
        member->ring = (char *)log + log->ring_at;
        member->mask = log->bytes - 1;
        member->at = member->reached = atomic_load_explicit(&member->done, memory_order_relaxed);
        member->tail = vp_txlog_tail(log);
        find_head(member);
        heads[turn] = &member->head;
    }
    run->order.winner = play(run, 1);
}

static void open_tables(evaluation *run)
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

static void commit(evaluation *run)
{
    vp_txundo undo = vp_txgroup_undo(run->group);
    run->has_run |= run->counts.transactions > 0;
    for (uint64_t turn = 0; turn < run->order.count; turn++) {
        vp_txmember *member = source_at(run, turn);
        if (member->reached != atomic_load_explicit(&member->done, memory_order_relaxed))
            run->length = vp_undo_write(undo, run->length, &member->done, member->reached);
    }
    run->length = vp_txgroup_count(run->group, run->length, &run->counts);
    vp_txgroup_commit(run->group);
    run->length = 0;
    run->counts = (vp_txcounts){0};
}

/* What commits themselves write must find room too. */
static uint64_t room_of(const evaluation *run)
{
    return VP_TX_UNDO_ROOM - COMMIT_EACH - run->order.count - VP_TXCOUNTS - 4;
}

/* -- transactions */

/* Whether the undo log has room for all that one can write, behind a commit if need be. */
static bool has_room(evaluation *run, vp_tx *tx)
{
    if (__builtin_expect(tx->program * run->most_words <= room_of(run), 1))
        return true;
    commit(run);
    return vp_program_words(run->tables, tx) <= room_of(run);
}

/* Everything below the frontier, up to a function of a task's. Returns VP_TX_PROGRESSED, VP_TX_WAITS_ALONE or
 * VP_TX_NO_MEMORY. */
static int run_all(evaluation *run, vp_txundo undo)
{
    vp_tournament order = run->order;
    const uint64_t several = order.count > 1;
    for (;;) {
        vp_txmember *member = source_at(run, order.winner.source);
        if (!is_below(&member->head, &run->frontier))
            break;
        vp_tx *tx = (vp_tx *)(member->ring + (member->at & member->mask));
        if (__builtin_expect(tx->kind == VP_TX_ALONE, 0)) {
            run->order.winner = order.winner;
            return VP_TX_WAITS_ALONE;
        }
        if (!has_room(run, tx))
            return VP_TX_NO_MEMORY;
        run->counts.late += is_below(&member->head, &run->latest);
        run->latest = is_below(&member->head, &run->latest) ? run->latest : member->head;
        run->counts.aborted += vp_program_run(undo, &run->length, run->tables, tx) != VP_TX_DONE;
        run->counts.transactions++;
        run->counts.instructions += tx->program;
        VP_CRASH_POINT("evaluate: between");
        member->reached = member->at += tx->size;
        find_head(member);
        if (run->length >= COMMIT_EACH)
            commit(run);
        order.winner = several ? vp_replay(&order, order.winner.source) : order.winner;
    }
    return VP_TX_PROGRESSED;
}

/* Notes of each log whether its next transaction has been seen to lie at the frontier or above. */
static void note_waiting(const evaluation *run)
{
    for (uint64_t turn = 0; turn < run->order.count; turn++) {
        const vp_txmember *member = source_at(run, turn);
        vp_txlog *log = vp_txgroup_log(run->group, run->members[turn].next);
        if (member->at != member->tail)
            atomic_store_explicit(&log->evaluator.waits, member->reached, memory_order_relaxed);
    }
}

/* With the lease. */
static int evaluate_once(vp_txgroup *group, int32_t *who)
{
    evaluation run;
    uint32_t holding;
    run.group = group;
    run.members = vp_txgroup_members(group);
    run.length = 0;
    run.counts = (vp_txcounts){0};
    run.has_run = false;
    run.latest = vp_txgroup_evaluated(group);
    run.frontier = vp_txgroup_frontier(group, &holding);
    VP_CRASH_POINT("evaluate: frontier");
    open_tables(&run);
    open_logs(&run);
    VP_CRASH_POINT("evaluate: begun");
    int result = run_all(&run, vp_txgroup_undo(group));
    bool is_alone = result == VP_TX_WAITS_ALONE;
    uint64_t turn = run.members[run.order.winner.source].next;
    vp_position reached = is_alone ? run.members[turn].head : run.frontier;
    if (result != VP_TX_NO_MEMORY)
        run.length = vp_txgroup_reach(group, run.length, reached);
    run.counts.evaluations = run.has_run || run.counts.transactions;
    note_waiting(&run);
    commit(&run);
    if (is_alone) {
        *who = (int32_t)turn;
        atomic_store_explicit(&group->alone, (uint32_t)turn + 1, memory_order_seq_cst);
        VP_CRASH_POINT("evaluate: alone");
    }
    return result;
}

int vp_txgroup_evaluate(vp_txgroup *group, uint32_t holder, int32_t me, int32_t *who)
{
    int result = VP_TX_NOTHING;
    while (vp_txgroup_is_due(group, me) && vp_txgroup_take(group, holder)) {
        uint64_t said = vp_txgroup_said(group);
        result = evaluate_once(group, who);
        if (result == VP_TX_WAITS_ALONE && *who == me)
            return result;
        vp_txgroup_give(group);
        if (result != VP_TX_PROGRESSED || vp_txgroup_said(group) == said)
            break;
    }
    return result;
}
