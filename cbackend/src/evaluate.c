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

/* Words between two commits. From 256 to 4,096 the number makes no difference in time; tasks hear of results sooner. */
enum { COMMIT_EACH = 1024 };

/* How far ahead of a transaction its log is asked for, and how much of it, in bytes; and rows of how many instructions. */
enum { FETCHED_AT = 512, FETCHED = 320, FETCHED_ROWS = 4 };

typedef struct {
    vp_txgroup *group;
    vp_txcursor *cursors;
    vp_tournament order;
    vp_position frontier;
    const vp_position *latest;  /* evaluated last, or the next */
    vp_position reached;        /* as the commit found `latest` */
    uint64_t length;            /* undo entries that count */
    uint64_t most_words;        /* that an instruction can write */
    vp_txcounts counts;         /* since the last commit */
    bool has_run;               /* any transaction */
    vp_txtable tables[VP_TX_TABLES];
} evaluation;

static const vp_position END = {INT64_MAX, UINT64_MAX, UINT64_MAX, 0};

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

static vp_tx *next_of(const vp_txcursor *cursor)
{
    return (vp_tx *)(cursor->ring + (cursor->at & cursor->mask));
}

/* Goes on to the next transaction: where it stands, which a log says in the words of a position without a tree; or the
 * end of all. */
static const vp_position *find_head(vp_txcursor *cursor)
{
    for (; cursor->at != cursor->tail; cursor->at += next_of(cursor)->size)
        if (__builtin_expect(next_of(cursor)->kind != VP_TX_PAD, 1))
            return (const vp_position *)&next_of(cursor)->ts;
    return &END;
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
        heads[turn] = find_head(cursor);
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

/* Goes on behind a transaction, and asks memory ahead.
 *
 * For the log, whose next lines are in no near cache where logs are long: with that, 40,000 Grep and Sums in four logs
 * take 70 ns each instead of 90, and in short logs no less. And for rows of its next transaction, which is some others
 * away: of its last instructions, as the processor comes to the first ones in time by itself. 40,000 ledger transactions
 * take 58 ns each instead of 70, Grep and Sums 65 instead of 61. (In functions of their own, which would do nothing but
 * ask, compilers take no calls for needed.) */
static const vp_position *advance(const evaluation *run, vp_txcursor *cursor, const vp_tx *tx)
{
    cursor->reached = cursor->at += tx->size;
    for (uint64_t ahead = FETCHED_AT; ahead < FETCHED_AT + FETCHED; ahead += 64)
        __builtin_prefetch(cursor->ring + ((cursor->at + ahead) & cursor->mask), 1);
    const vp_position *head = find_head(cursor);
    if (cursor->at == cursor->tail)
        return head;
    vp_tx *next = next_of(cursor);
    const vp_tx_instruction *end = vp_tx_program(next) + next->program;
    const vp_tx_instruction *step = end - (next->program < FETCHED_ROWS ? next->program : FETCHED_ROWS);
    for (; step < end; step++)
        if (step->code < VP_TX_REQUIRE)
            __builtin_prefetch((const void *)vp_program_row(run->tables, step), 1);
    return head;
}

/* Everything below the frontier, up to a function of a task's. Returns VP_TX_PROGRESSED, VP_TX_WAITS_ALONE or
 * VP_TX_NO_MEMORY; the winner is the log that it stopped at. */
static int run_all(evaluation *run, vp_txundo undo)
{
    vp_tournament *order = &run->order;
    const uint64_t several = order->count > 1;
    for (;;) {
        const uint64_t turn = order->winner.source;
        const vp_position *position = order->heads[turn];
        if (!is_below(position, &run->frontier))
            return VP_TX_PROGRESSED;
        vp_txcursor *cursor = &run->cursors[turn];
        vp_tx *tx = next_of(cursor);
        if (__builtin_expect(tx->kind == VP_TX_ALONE, 0))
            return VP_TX_WAITS_ALONE;
        if (!has_room(run, tx))
            return VP_TX_NO_MEMORY;
        bool is_late = is_below(position, run->latest);
        run->counts.late += is_late;
        run->latest = is_late ? run->latest : position;
        run->counts.aborted += vp_program_run(undo, &run->length, run->tables, tx) != VP_TX_DONE;
        run->counts.transactions++;
        run->counts.instructions += tx->program;
        VP_CRASH_POINT("evaluate: between");
        order->heads[turn] = advance(run, cursor, tx);
        if (run->length >= COMMIT_EACH)
            commit(run);
        if (several)
            order->winner = vp_replay(order, turn);
    }
}

/* Notes of each log whether its next transaction has been seen to lie at the frontier or above. */
static void note_waiting(const evaluation *run)
{
    for (uint64_t turn = 0; turn < run->order.count; turn++) {
        const vp_txcursor *cursor = &run->cursors[turn];
        vp_txlog *log = vp_txgroup_log(run->group, cursor->number);
        if (cursor->at != cursor->tail)
            atomic_store_explicit(&log->evaluator.waits, cursor->reached, memory_order_relaxed);
    }
}

static void begin(evaluation *run, vp_txgroup *group)
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
static int evaluate_once(vp_txgroup *group, int32_t *who)
{
    evaluation run;
    begin(&run, group);
    int result = run_all(&run, vp_txgroup_undo(group));
    uint64_t turn = run.order.winner.source;
    bool is_alone = result == VP_TX_WAITS_ALONE;
    if (result != VP_TX_NO_MEMORY)
        run.length = vp_txgroup_reach(group, run.length, is_alone ? vp_tx_position(next_of(&run.cursors[turn])) : run.frontier);
    run.counts.evaluations = run.has_run || run.counts.transactions;
    note_waiting(&run);
    commit(&run);
    if (is_alone) {
        *who = (int32_t)run.cursors[turn].number;
        atomic_store_explicit(&group->alone, (uint32_t)*who + 1, memory_order_seq_cst);
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
