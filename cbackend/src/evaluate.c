/* The serial evaluator: one transaction after the other on one core. For the programs of these workloads that is faster
 * than any number of cores that wait for each other: what a chain or a lock costs is more than the transaction.
 */
#include "crash.h"
#include "evaluation.h"

/* Words between two commits. From 256 to 4,096 the number makes no difference in time; tasks hear of results sooner. */
enum { COMMIT_EACH = 1024 };

static uint64_t room_of(const vp_evaluation *run)
{
    return VP_TX_UNDO_ROOM - COMMIT_EACH - vp_evaluation_commit_words(run);
}

/* Whether the undo log has room for all that one can write, behind a commit if need be. */
static bool has_room(vp_evaluation *run, vp_tx *tx)
{
    if (__builtin_expect(tx->program * run->most_words <= room_of(run), 1))
        return true;
    vp_evaluation_commit(run);
    return vp_program_words(run->tables, tx) <= room_of(run);
}

int vp_serial_run(vp_evaluation *run, void *context)
{
    const vp_txundo undo = *(const vp_txundo *)context;
    vp_tournament order = run->order;
    uint64_t turn;
    int result = VP_TX_PROGRESSED;
    for (vp_tx *tx; (tx = vp_evaluation_next(run, &order, &turn));) {
        if (__builtin_expect(tx->kind == VP_TX_ALONE, 0))
            result = VP_TX_WAITS_ALONE;
        else if (!has_room(run, tx))
            result = VP_TX_NO_MEMORY;
        if (__builtin_expect(result != VP_TX_PROGRESSED, 0))
            break;
        vp_evaluation_count(run, &order, tx);
        run->counts.aborted += vp_program_run(undo, &run->length, run->tables, tx, NULL) != VP_TX_DONE;
        VP_CRASH_POINT("evaluate: between");
        vp_evaluation_pass(run, &order, turn, tx);
        if (run->length >= COMMIT_EACH)
            vp_evaluation_commit(run);
    }
    run->order = order;
    return result;
}

int vp_txgroup_evaluate(vp_txgroup *group, uint32_t holder, int32_t me, int32_t *who)
{
    vp_txundo undo = vp_txgroup_undo(group);
    return vp_evaluate_by(group, holder, me, who, vp_serial_run, &undo);
}
