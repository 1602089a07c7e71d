/* Other ways to evaluate what the logs of a group want, on several threads, with the same results: schemes that the
 * literature compares (Zhang et al., "TStream", ICDE 2020, and what is cited there). They are there to be measured.
 *
 * A scheme evaluates batches, one behind the other. The words that a batch may change are noted before it is run, in a
 * region that every burial of the group knows of; so a process that dies takes its batch back, and no other.
 */
#ifndef VIPER_TXSCHEMES_H
#define VIPER_TXSCHEMES_H

#include "viper/txgroup.h"

#define VP_SCHEME_THREADS 16
#define VP_SCHEME_PARTITIONS 64

/* The schemes. */
enum {
    VP_SCHEME_CHAINS = 1,     /* TStream: operations in chains, one for each row, which wait for what they depend on only */
    VP_SCHEME_LOCKS = 2,      /* LOCK: rows are locked in the order of all, to read or to write (strict two-phase locking) */
    VP_SCHEME_VERSIONS = 3,   /* MVLK: likewise, but reads have versions of rows, and hold up no writes */
    VP_SCHEME_PARTITION_LOCKS = 4, /* PAT: partitions of rows are locked, in the order of all */
    VP_SCHEME_NO_LOCKS = 5,   /* nobody waits. WRONG: how fast others could be at most */
    VP_SCHEME_PARTITIONS_APART = 6 /* each thread has partitions of its own; those who have one transaction together wait
                                      for each other */
};

typedef struct vp_txscheme vp_txscheme; /* private to a process */

/* Bytes of the region for what may go back. 0 where there can be none. */
uint64_t vp_txscheme_size(uint32_t threads);

/* Starts threads - 1 threads, which wait until there is something to evaluate. region: the offset of a zeroed region of
 * that size in the group's arena. batch: transactions at once, 0: as many as there is room for. partitions: rows with
 * equal numbers modulo so many are of one. NULL without memory or threads, or where a number is 0 or too large. All
 * tables and logs must be set. */
vp_txscheme *vp_txscheme_new(vp_txgroup *group, uint64_t region, uint32_t scheme, uint32_t threads, uint32_t batch,
                             uint32_t partitions);
/* Ends its threads; not while it evaluates. */
void vp_txscheme_free(vp_txscheme *scheme);

/* As vp_txgroup_evaluate. */
int vp_txscheme_evaluate(vp_txscheme *scheme, uint32_t holder, int32_t me, int32_t *who);

/* How many batches were evaluated, and how many of them serially in the end, as an operation that other chains did not
 * wait for has failed. */
uint64_t vp_txscheme_batches(const vp_txscheme *scheme);
uint64_t vp_txscheme_redone(const vp_txscheme *scheme);

#endif
