/* The directory of a group, its lease, and its commits. What is evaluated, and how, is in evaluate.c.
 *
 * Lease.   One word, swapped from 0 to the holder's number (L0), and stored back (L1).
 * Wake-up. A task tells its log, raises `said` (W0), and then looks whether somebody has the lease (W1). Who has it sums
 *          up what was said before it looks at the logs, gives the lease back (L1), and sums it up again (W2). All are
 *          seq_cst: in their one order either W0 stands before W2, and the holder goes on; or L1 stands before W1, and
 *          the task finds the lease free, and all that the holder did with it.
 * Commit.  One store, which empties the undo log. What others read is told behind it: nobody has heard of a result that
 *          goes back. Whoever buries a holder tells it once more, as that may have died in between.
 */
#include "txgroup.h"

#include <stddef.h>

#include "crash.h"

static uint64_t read(const vp_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* -- the directory */

static uint64_t lined(uint64_t bytes)
{
    return (bytes + VP_LINE - 1) / VP_LINE * VP_LINE;
}

static vp_txgroup shape_of(uint32_t tables, uint32_t logs)
{
    vp_txgroup shape = {.tables = tables, .logs = logs, .tables_at = sizeof shape};
    shape.elements_at = shape.tables_at + tables * sizeof(uint64_t);
    shape.members_at = lined(shape.elements_at + (uint64_t)tables * VP_SHARED_COLUMNS * sizeof(uint32_t));
    shape.cursors_at = lined(shape.members_at + logs * sizeof(vp_txmember));
    shape.losers_at = shape.cursors_at + logs * sizeof(vp_txcursor);
    shape.heads_at = shape.losers_at + logs * sizeof(vp_contender);
    shape.entries_at = lined(shape.heads_at + logs * sizeof(vp_position *));
    return shape;
}

uint64_t vp_txgroup_size(uint32_t tables, uint32_t logs)
{
    if (tables > VP_TX_TABLES || !logs || logs > UINT16_MAX)
        return 0;
    return shape_of(tables, logs).entries_at + VP_TX_UNDO_ROOM * sizeof(vp_txbefore);
}

vp_txgroup *vp_txgroup_format(void *arena, uint64_t offset, uint32_t tables, uint32_t logs)
{
    if (!vp_txgroup_size(tables, logs))
        return NULL;
    vp_txgroup *group = vp_txgroup_at(arena, offset);
    *group = shape_of(tables, logs);
    group->at = offset;
    vp_txgroup_begin_at(group, VP_LEAST);
    return group;
}

vp_txgroup *vp_txgroup_at(void *arena, uint64_t offset)
{
    return (vp_txgroup *)((char *)arena + offset);
}

void vp_txgroup_set_table(vp_txgroup *group, uint32_t number, uint64_t offset)
{
    vp_txgroup_tables(group)[number] = offset;
}

void vp_txgroup_set_log(vp_txgroup *group, uint32_t number, uint64_t offset)
{
    vp_txgroup_members(group)[number].log = offset;
    group->sorted = 0;
}

void vp_txgroup_set_elements(vp_txgroup *group, uint32_t table, uint32_t column, uint32_t elements)
{
    vp_txgroup_elements(group)[table * VP_SHARED_COLUMNS + column] = elements;
}

static vp_position committed(const vp_txgroup *group)
{
    const vp_txcommitted *words = &group->committed;
    return (vp_position){(int64_t)read(&words->ts), read(&words->hi), read(&words->lo), 0};
}

void vp_txgroup_begin_at(vp_txgroup *group, vp_position position)
{
    atomic_store_explicit(&group->committed.ts, (uint64_t)position.ts, memory_order_relaxed);
    atomic_store_explicit(&group->committed.hi, position.hi, memory_order_relaxed);
    atomic_store_explicit(&group->committed.lo, position.lo, memory_order_relaxed);
    vp_twice_publish(&group->evaluated, position);
}

/* -- what is told */

vp_position vp_txgroup_evaluated(const vp_txgroup *group)
{
    return vp_twice_read(&group->evaluated);
}

vp_position vp_txgroup_frontier(const vp_txgroup *group, uint32_t *holding)
{
    vp_position least = VP_END;
    *holding = 0;
    for (uint32_t number = 0; number < group->logs; number++) {
        if (!vp_txgroup_members(group)[number].log)
            continue;
        vp_position position = vp_txlog_is_collected(vp_txgroup_log(group, number));
        if (vp_compare(position, least) < 0) {
            least = position;
            *holding = number;
        }
    }
    return least;
}

uint32_t vp_txgroup_holding(const vp_txgroup *group)
{
    uint32_t holding;
    vp_txgroup_frontier(group, &holding);
    return holding;
}

uint64_t vp_txgroup_said(const vp_txgroup *group)
{
    uint64_t sum = 0;
    for (uint32_t number = 0; number < group->logs; number++)
        if (vp_txgroup_members(group)[number].log)
            sum += atomic_load_explicit(&vp_txgroup_log(group, number)->task_words.said, memory_order_seq_cst); /* W2 */
    return sum;
}

void vp_txgroup_counts(const vp_txgroup *group, vp_txcounts *counts)
{
    const vp_word *words = group->committed.counts;
    *counts = (vp_txcounts){
        read(&words[VP_TXCOUNT_TRANSACTIONS]), read(&words[VP_TXCOUNT_ABORTED]), read(&words[VP_TXCOUNT_EVALUATIONS]),
        read(&words[VP_TXCOUNT_LATE]), read(&words[VP_TXCOUNT_INSTRUCTIONS]),
    };
}

/* Whether a transaction is there that nobody has seen yet, which may be a late one. */
static bool has_unseen(const vp_txlog *log)
{
    uint64_t evaluated = read(&log->evaluator.evaluated);
    return vp_txlog_tail(log) != evaluated && read(&log->evaluator.waits) != evaluated;
}

bool vp_txgroup_is_due(const vp_txgroup *group, int32_t me)
{
    if (atomic_load_explicit(&group->holder, memory_order_seq_cst)) /* W1 <- L1 */
        return false;
    uint32_t alone = atomic_load_explicit(&group->alone, memory_order_seq_cst);
    if (alone)
        return me >= 0 && alone == (uint32_t)me + 1;
    uint32_t holding;
    vp_position frontier = vp_txgroup_frontier(group, &holding);
    if (vp_compare(frontier, vp_txgroup_evaluated(group)) > 0)
        return true;
    for (uint32_t number = 0; number < group->logs; number++)
        if (vp_txgroup_members(group)[number].log && has_unseen(vp_txgroup_log(group, number)))
            return true;
    return false;
}

/* -- the lease */

bool vp_txgroup_take(vp_txgroup *group, uint32_t holder)
{
    uint32_t nobody = 0;
    bool taken = atomic_compare_exchange_strong_explicit(&group->holder, &nobody, holder, memory_order_seq_cst, /* L0 <- L1 */
                                                         memory_order_seq_cst);
    VP_CRASH_POINT("lease: looked for");
    return taken;
}

void vp_txgroup_give(vp_txgroup *group)
{
    VP_CRASH_POINT("lease: held still");
    atomic_store_explicit(&group->holder, 0, memory_order_seq_cst); /* L1 -> L0, W1 */
    VP_CRASH_POINT("lease: given");
}

/* -- commits */

uint64_t vp_txgroup_count(vp_txgroup *group, uint64_t length, const vp_txcounts *more)
{
    const uint64_t added[VP_TXCOUNTS] = {
        more->transactions, more->aborted, more->evaluations, more->late, more->instructions,
    };
    vp_txundo undo = vp_txgroup_undo(group);
    for (uint32_t i = 0; i < VP_TXCOUNTS; i++) {
        vp_word *word = &group->committed.counts[i];
        if (added[i])
            length = vp_undo_write(undo, length, word, read(word) + added[i]);
    }
    return length;
}

uint64_t vp_txgroup_reach(vp_txgroup *group, uint64_t length, vp_position position)
{
    vp_txcommitted *words = &group->committed;
    if (vp_compare(position, committed(group)) <= 0)
        return length;
    vp_txundo undo = vp_txgroup_undo(group);
    length = vp_undo_write(undo, length, &words->ts, (uint64_t)position.ts);
    length = vp_undo_write(undo, length, &words->hi, position.hi);
    return vp_undo_write(undo, length, &words->lo, position.lo);
}

static void tell(vp_txgroup *group)
{
    for (uint32_t number = 0; number < group->logs; number++) {
        const vp_txmember *member = &vp_txgroup_members(group)[number];
        if (!member->log)
            continue;
        vp_txlog *log = vp_txgroup_log(group, number);
        if (read(&log->evaluator.evaluated) != read(&member->done))
            atomic_store_explicit(&log->evaluator.evaluated, read(&member->done), memory_order_release); /* E0 -> E1 */
        VP_CRASH_POINT("evaluated: log told");
    }
    vp_position position = committed(group);
    if (vp_compare(position, vp_txgroup_evaluated(group)) != 0)
        vp_twice_publish(&group->evaluated, position);
    VP_CRASH_POINT("evaluated: all told");
}

void vp_txgroup_commit(vp_txgroup *group)
{
    VP_CRASH_POINT("evaluated: not yet");
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&group->undo_length, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    VP_CRASH_POINT("evaluated: done");
    tell(group);
}

void vp_txgroup_segments_back(vp_txgroup *group)
{
    vp_txsegments *segments = (vp_txsegments *)(vp_txgroup_arena(group) + read(&group->segments));
    for (uint64_t i = 0; read(&group->segments) && i < segments->count; i++) {
        vp_word *length = &vp_txsegment_at(segments, i)->length;
        vp_undo_back((vp_txundo){vp_txgroup_arena(group), vp_txsegment_entries(segments, i), length}, read(length), 0);
    }
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&group->segments, 0, memory_order_relaxed);
}

/* Where it died between the two stores of `evaluated`, that is told as it was committed, be it torn or not. */
bool vp_txgroup_bury(vp_txgroup *group, uint32_t holder)
{
    if (!holder || atomic_load_explicit(&group->holder, memory_order_seq_cst) != holder)
        return false;
    vp_undo_back(vp_txgroup_undo(group), read(&group->undo_length), 0);
    vp_txgroup_segments_back(group); /* which the commit may have given up, had it come about */
    VP_CRASH_POINT("bury: undone");
    vp_twice_publish(&group->evaluated, committed(group));
    tell(group);
    /* Whose turn it is alone, who evaluates next finds again. */
    atomic_store_explicit(&group->alone, 0, memory_order_seq_cst);
    VP_CRASH_POINT("bury: told");
    vp_txgroup_give(group);
    return true;
}

/* -- functions of tasks that are alone */

int vp_txgroup_alone_write(vp_txgroup *group, uint32_t number, uint64_t row, bool present, const int64_t *words)
{
    const vp_shared *table = vp_txgroup_table(group, number);
    vp_txundo undo = vp_txgroup_undo(group);
    uint64_t length = read(&group->undo_length);
    vp_word *cells = vp_shared_row(table, row);
    uint64_t header = vp_row_word(&cells[VP_ROW_HEADER]);
    /* Room is left for what alone_done writes. */
    if (length + table->columns + 1 > VP_TX_UNDO_ROOM - VP_SHARED_COLUMNS)
        return VP_TX_NO_MEMORY;
    for (uint64_t column = 0; present && column < table->columns; column++)
        if (vp_row_word(&cells[VP_ROW_COLUMNS + column]) != (uint64_t)words[column])
            length = vp_undo_write(undo, length, &cells[VP_ROW_COLUMNS + column], (uint64_t)words[column]);
    if (present != (bool)(header & VP_ROW_PRESENT))
        vp_undo_write(undo, length, &cells[VP_ROW_HEADER],
                      present ? header | VP_ROW_PRESENT : vp_header_turned(header) & ~VP_ROW_PRESENT);
    return 0;
}

void vp_txgroup_alone_done(vp_txgroup *group, uint32_t status)
{
    uint32_t number = atomic_load_explicit(&group->alone, memory_order_relaxed) - 1;
    vp_txmember *member = &vp_txgroup_members(group)[number];
    uint64_t length = read(&group->undo_length), at = read(&member->done);
    if (status != VP_TX_DONE)
        length = vp_undo_back(vp_txgroup_undo(group), length, 0);
    vp_tx *tx = vp_txlog_tx(vp_txgroup_log(group, number), &at);
    tx->status = status;
    tx->at = 0;
    vp_txcounts more = {.transactions = 1, .aborted = status != VP_TX_DONE};
    more.late = vp_compare(vp_tx_position(tx), committed(group)) < 0;
    length = vp_txgroup_count(group, length, &more);
    vp_undo_write(vp_txgroup_undo(group), length, &member->done, at + tx->size);
    vp_txgroup_commit(group);
    atomic_store_explicit(&group->alone, 0, memory_order_seq_cst);
    vp_txgroup_give(group);
}
