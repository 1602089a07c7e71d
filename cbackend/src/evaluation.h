/* One evaluation of a group by who has the lease: the logs in one order, up to the frontier, and its commits.
 *
 * Bound.   What is collected is read before the tails: so all that lies strictly below the least collected position is
 *          there. Equal positions may still come, hence strictly.
 * Order.   A tournament over the logs (tournament.h), whose sources are ordered by component and task. Late transactions
 *          lie below all that is still to come, so it puts them first.
 */
#ifndef VIPER_SRC_EVALUATION_H
#define VIPER_SRC_EVALUATION_H

#include <stddef.h>

#include "program.h"
#include "txgroup.h"

/* How far ahead of a transaction its log is asked for, and how much of it, in bytes; and rows of how many instructions. */
enum { VP_FETCHED_AT = 512, VP_FETCHED = 320, VP_FETCHED_ROWS = 4 };

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
} vp_evaluation;

static const vp_position VP_TX_END = {INT64_MAX, UINT64_MAX, UINT64_MAX, 0};

static inline bool vp_is_below(const vp_position *a, const vp_position *b)
{
    return (a->ts < b->ts) | ((a->ts == b->ts) & ((a->hi < b->hi) | ((a->hi == b->hi) & (a->lo < b->lo))));
}

static inline vp_tx *vp_cursor_next(const vp_txcursor *cursor)
{
    return (vp_tx *)(cursor->ring + (cursor->at & cursor->mask));
}

/* Goes on to the next transaction: where it stands, which a log says in the words of a position without a tree; or the
 * end of all. */
static inline const vp_position *vp_cursor_head(vp_txcursor *cursor)
{
    for (; cursor->at != cursor->tail; cursor->at += vp_cursor_next(cursor)->size)
        if (__builtin_expect(vp_cursor_next(cursor)->kind != VP_TX_PAD, 1))
            return (const vp_position *)&vp_cursor_next(cursor)->ts;
    return &VP_TX_END;
}

/* Goes on behind a transaction, and asks memory ahead.
 *
 * For the log, whose next lines are in no near cache where logs are long: with that, 40,000 Grep and Sums in four logs
 * take 70 ns each instead of 90, and in short logs no less. And for rows of its next transaction, which is some others
 * away: of its last instructions, as the processor comes to the first ones in time by itself. 40,000 ledger transactions
 * take 58 ns each instead of 70, Grep and Sums 65 instead of 61. (In functions of their own, which would do nothing but
 * ask, compilers take no calls for needed.) */
static inline const vp_position *vp_evaluation_advance(const vp_evaluation *run, vp_txcursor *cursor, const vp_tx *tx)
{
    cursor->reached = cursor->at += tx->size;
    for (uint64_t ahead = VP_FETCHED_AT; ahead < VP_FETCHED_AT + VP_FETCHED; ahead += 64)
        __builtin_prefetch(cursor->ring + ((cursor->at + ahead) & cursor->mask), 1);
    const vp_position *head = vp_cursor_head(cursor);
    if (cursor->at == cursor->tail)
        return head;
    vp_tx *next = vp_cursor_next(cursor);
    const vp_tx_instruction *end = vp_tx_program(next) + next->program;
    const vp_tx_instruction *step = end - (next->program < VP_FETCHED_ROWS ? next->program : VP_FETCHED_ROWS);
    for (; step < end; step++)
        if (step->code < VP_TX_REQUIRE)
            __builtin_prefetch((const void *)vp_program_row(run->tables, step), 1);
    return head;
}

/* The next transaction and its log's turn; NULL where all others lie at the frontier or above. `order` here and below
 * is a copy of the evaluation's that is given back to it; compilers keep a copy in the processor's registers, which
 * makes 2 to 4 ns of a transaction. */
static inline vp_tx *vp_evaluation_next(const vp_evaluation *run, const vp_tournament *order, uint64_t *turn)
{
    *turn = order->winner.source;
    return vp_is_below(order->heads[*turn], &run->frontier) ? vp_cursor_next(&run->cursors[*turn]) : NULL;
}

/* Counts it as evaluated, but for whether it was aborted. */
static inline void vp_evaluation_count(vp_evaluation *run, const vp_tournament *order, const vp_tx *tx)
{
    const vp_position *position = order->heads[order->winner.source];
    bool is_late = vp_is_below(position, run->latest);
    run->counts.late += is_late;
    run->latest = is_late ? run->latest : position;
    run->counts.transactions++;
    run->counts.instructions += tx->program;
}

/* Goes on behind it. */
static inline void vp_evaluation_pass(const vp_evaluation *run, vp_tournament *order, uint64_t turn, const vp_tx *tx)
{
    order->heads[turn] = vp_evaluation_advance(run, &run->cursors[turn], tx);
    if (order->count > 1)
        order->winner = vp_replay(order, turn);
}

/* All that was passed, and written since the last commit, lasts, and is told. */
void vp_evaluation_commit(vp_evaluation *run);

/* How many undo entries the commit may need. */
uint64_t vp_evaluation_commit_words(const vp_evaluation *run);

/* Evaluates transactions up to the frontier, or to one that is alone, or without room: VP_TX_PROGRESSED,
 * VP_TX_WAITS_ALONE or VP_TX_NO_MEMORY. */
typedef int (*vp_evaluator)(vp_evaluation *run, void *context);

/* The serial one, whose context is the group's vp_txundo. */
int vp_serial_run(vp_evaluation *run, void *undo);

/* vp_txgroup_evaluate, by an evaluator. */
int vp_evaluate_by(vp_txgroup *group, uint32_t holder, int32_t me, int32_t *who, vp_evaluator evaluator, void *context);

#endif
