/* A group of shared tables with the logs of all tasks that use them, and the evaluation of what these want.
 *
 * The result is that of all transactions one after the other, in the order (position, component, ordinal), whatever is
 * evaluated when and by whom. Whoever finds that the least position which all logs have collected lies above what was
 * evaluated takes the lease, evaluates strictly below it, and gives the lease back. Transactions that come below what was
 * evaluated already (of tuples without a place of their own) are evaluated next, and counted.
 *
 * What an evaluation changes in tables is noted in an undo log. A holder of the lease that dies is buried by
 * vp_txgroup_bury: tables go back to the last commit of the evaluation, and the next one does it again. An evaluation
 * commits every few thousand words, at the end of a transaction, and tells logs how far it is only then.
 *
 * Source of the scheme (dual-mode scheduling: postpone, then evaluate): TStream, Zhang et al., ICDE 2020.
 */
#ifndef VIPER_TXGROUP_H
#define VIPER_TXGROUP_H

#include "viper/shared.h"
#include "viper/txlog.h"

typedef struct vp_txgroup vp_txgroup;

/* What vp_txgroup_evaluate returns. */
enum {
    VP_TX_NOTHING = 0,   /* nothing could be evaluated, or somebody else is at it, who looks again behind it */
    VP_TX_PROGRESSED = 1, /* logs have been told of progress */
    VP_TX_WAITS_ALONE = 2, /* likewise, up to a function of a task's; `who` is its log. If that is `me`, the lease is held,
                              and vp_txgroup_alone_done must follow; else it is that task's turn, and it must be woken.
                              Others are told VP_TX_NOTHING until then */
    VP_TX_NO_MEMORY = 3    /* the next transaction changes more words than the undo log has room for */
};

typedef struct {
    uint64_t transactions, aborted, evaluations, late, instructions;
} vp_txcounts;

uint64_t vp_txgroup_size(uint32_t tables, uint32_t logs);
vp_txgroup *vp_txgroup_format(void *arena, uint64_t offset, uint32_t tables, uint32_t logs);
vp_txgroup *vp_txgroup_at(void *arena, uint64_t offset);
/* Before a run: table `number` of the group, and log `number`, by their offsets. */
void vp_txgroup_set_table(vp_txgroup *group, uint32_t number, uint64_t offset);
void vp_txgroup_set_log(vp_txgroup *group, uint32_t number, uint64_t offset);
/* The elements of a set column are the rows of table `elements`. */
void vp_txgroup_set_elements(vp_txgroup *group, uint32_t table, uint32_t column, uint32_t elements);

/* Evaluates what can be. holder: from 1 on, the same for all threads of a process, which share it. me: number of the
 * caller's log, or -1. */
int vp_txgroup_evaluate(vp_txgroup *group, uint32_t holder, int32_t me, int32_t *who);

/* Whether evaluate might do something; cheap. False while somebody is at it, who looks again. */
bool vp_txgroup_is_due(const vp_txgroup *group, int32_t me);

/* For the function of a task that is alone now: writes of it, which are undone if it fails, or if its process dies.
 * words as in vp_shared_put; present: whether the row is there from now on. */
int vp_txgroup_alone_write(vp_txgroup *group, uint32_t table, uint64_t row, bool present, const int64_t *words);
/* It has returned (status VP_TX_DONE) or failed; evaluation can go on by another vp_txgroup_evaluate. */
void vp_txgroup_alone_done(vp_txgroup *group, uint32_t status);

/* Below which position everything has been evaluated. */
vp_position vp_txgroup_evaluated(const vp_txgroup *group);
/* The number of the log that holds all others back. */
uint32_t vp_txgroup_holding(const vp_txgroup *group);
void vp_txgroup_counts(const vp_txgroup *group, vp_txcounts *counts);
/* Before a run that goes on from a checkpoint, or never: below this everything was evaluated. */
void vp_txgroup_begin_at(vp_txgroup *group, vp_position position);

/* Sets right what a dead process has left, if it held the lease: from a process that outlives it. Whether it did. Somebody
 * must evaluate behind it in any case: the dead one may have been about to look again. */
bool vp_txgroup_bury(vp_txgroup *group, uint32_t holder);

#endif
