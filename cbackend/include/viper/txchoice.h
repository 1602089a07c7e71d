/* Which evaluator a process evaluates a group by: the serial one, a scheme on several threads, or whichever of both takes
 * less time. The results are the same.
 *
 * Each process of a run has a choice of its own for each group, with a region of its own in the group's arena; processes
 * may choose differently. Threads are started when something is evaluated by them for the first time: behind every fork
 * that makes workers. A child of a fork has none of its parent's threads, and leaves them alone.
 */
#ifndef VIPER_TXCHOICE_H
#define VIPER_TXCHOICE_H

#include "viper/txschemes.h"

/* Evaluators beside the schemes of txschemes.h. */
enum {
    VP_CHOICE_SERIAL = 0,
    VP_CHOICE_AUTO = 64 /* begins serially, and goes over to a scheme and back by what is measured */
};

/* Why the evaluator is used that is used. */
enum {
    VP_CHOSEN_ASKED = 0,      /* it is the one that was asked for */
    VP_CHOSEN_ALONE = 1,      /* there is one thread only */
    VP_CHOSEN_UNKNOWN = 2,    /* too little has been evaluated to tell */
    VP_CHOSEN_CHEAP = 3,      /* serial: instructions take too little time */
    VP_CHOSEN_TRIED = 4,      /* serial: threads were tried, and gained too little */
    VP_CHOSEN_PAYS = 5,       /* threads: they gain time */
    VP_CHOSEN_NO_THREADS = 6  /* serial: memory or threads for a scheme could not be had */
};

typedef struct vp_txchoice vp_txchoice; /* private to a process */

/* What a process has chosen so far. Times are in picoseconds for each instruction, the least of some lately; 0: not known. */
typedef struct {
    uint64_t serial, parallel; /* evaluations in which there was anything */
    uint64_t serial_ps, parallel_ps;
    uint64_t reason;
} vp_txchosen;

/* Bytes of the region of a process; 0 where it cannot be. */
uint64_t vp_txchoice_size(uint32_t threads);

/* region: the offset of a region of that size, zeroed or left by a process that died and was buried. evaluator: of the
 * above, or a scheme, but for the wrong one. threads: how many may evaluate, at least one. NULL without memory, or where
 * a number is none. */
vp_txchoice *vp_txchoice_new(vp_txgroup *group, uint64_t region, uint32_t evaluator, uint32_t threads);
void vp_txchoice_free(vp_txchoice *choice); /* not while it evaluates */

/* Ends its threads, unless somebody is evaluating, who was left behind; whatever is evaluated from now on is so serially. */
void vp_txchoice_end(vp_txchoice *choice);

/* As vp_txgroup_evaluate. */
int vp_txchoice_evaluate(vp_txchoice *choice, uint32_t holder, int32_t me, int32_t *who);

/* What the process has chosen whose region lies there; from any process. */
void vp_txchoice_chosen(vp_txgroup *group, uint64_t region, vp_txchosen *chosen);

#endif
