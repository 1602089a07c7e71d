/* When evaluation by several threads pays, and by which scheme: a decision by measured times only.
 *
 * Serial.   Some evaluations are measured, of which the least of the last few counts, as what else the machine does can
 *           only make them longer. Threads are tried once they are expected to gain a tenth.
 * Trial.    Each scheme has a few evaluations twice, the second of which count, and the fastest one is used. Now and then
 *           all have theirs again.
 * Parallel. All evaluations are measured, and now and then, or where threads seem to gain nothing, one is done serially.
 *           If that takes no longer than a twentieth more, evaluation is serial again, and for longer each time.
 */
#ifndef VIPER_SRC_TXPOLICY_H
#define VIPER_SRC_TXPOLICY_H

#include <stdbool.h>
#include <stdint.h>

enum { VP_POLICY_KEPT = 8, VP_POLICY_SCHEMES = 3 };

/* Picoseconds that an instruction took, of the last evaluations. */
typedef struct {
    uint64_t last[VP_POLICY_KEPT];
    uint32_t next, count;
} vp_txtimes;

typedef struct {
    uint32_t threads;      /* 1: it is always serial; others may be measured all the same */
    bool is_parallel;
    bool has_tried;        /* and gone back */
    uint32_t until_tried;  /* evaluations by threads before the end of a trial; 0: there is none */
    uint32_t scheme;       /* that is used or tried by threads */
    vp_txtimes serial, parallel[VP_POLICY_SCHEMES];
    uint64_t size;         /* instructions of an evaluation, about */
    uint32_t unmeasured;   /* serial evaluations before the next one that is measured */
    uint32_t until_try;    /* measured serial evaluations before threads are tried again */
    uint32_t pause;        /* what that begins with */
    uint32_t until_serial; /* parallel evaluations before a serial one */
    uint32_t serial_pause; /* what that is next, and twice as many each time */
    uint32_t until_trial;  /* parallel evaluations before the other schemes are tried again */
    uint32_t lasted;       /* how many there have been */
} vp_txpolicy;

void vp_policy_begin(vp_txpolicy *policy, uint32_t threads);

/* Whether the next evaluation is to be done by threads, and by which scheme, of VP_POLICY_SCHEMES; and whether it is to be
 * measured, which is to be asked once. */
bool vp_policy_is_for_threads(const vp_txpolicy *policy);
uint32_t vp_policy_scheme(const vp_txpolicy *policy);
bool vp_policy_measures(vp_txpolicy *policy);

/* Batches of fewer instructions are to be evaluated serially. */
uint64_t vp_policy_least(const vp_txpolicy *policy);

/* An evaluation was measured. */
void vp_policy_note(vp_txpolicy *policy, bool by_threads, uint64_t instructions, uint64_t ns);

/* The least of the last few; 0: there are none. */
uint64_t vp_times_least(const vp_txtimes *times);

/* Why it is as it is: as in viper/txchoice.h. */
uint32_t vp_policy_reason(const vp_txpolicy *policy);

#endif
