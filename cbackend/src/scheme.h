/* What all schemes of evaluation have in common. See viper/txschemes.h.
 *
 * A batch is evaluated in steps, and all threads are done with one before any begins the next:
 *
 *     collect   the first thread merges the logs; its transactions become jobs
 *     analyse   each thread takes some jobs apart, into parts, and notes the old values of what they may write
 *     link      the scheme's: jobs and parts are put in relation
 *     run       the scheme's
 *     commit    the first thread's
 *
 * A part is what one transaction does to one row. Rows are told by a number that is theirs among all tables, a record.
 * The elements of a row's sets are part of it.
 */
#ifndef VIPER_SRC_SCHEME_H
#define VIPER_SRC_SCHEME_H

#include <pthread.h>

#include "evaluation.h"
#include "viper/txschemes.h"

enum { VP_MOST_INSTRUCTIONS = 1 << 17, VP_NO_PART = UINT16_MAX };

typedef struct vp_part vp_part;

/* What the others of its transaction have to do with a part. */
enum {
    VP_PART_DECIDES = 0, /* something depends on it */
    VP_PART_FOLLOWS = 1, /* nothing does */
    VP_PART_FREE = 2     /* likewise, nor does it depend on anything, and it is one instruction */
};

/* On one cache line. */
struct vp_part {
    uint32_t job, record;
    uint16_t first, last;   /* instructions; between them may be others' */
    uint16_t register_at;   /* the register that comes next before the first one */
    bool writes;
    uint8_t role;           /* in VP_SCHEME_CHAINS */
    union {
        struct {
            vp_part *next;          /* of the record's chain */
            vp_part *queued;        /* behind it in a queue of a thread's */
            vp_tx_instruction step; /* of a free one */
            int64_t *result;        /* likewise, where it goes, if there is any */
            _Atomic uint32_t waits; /* things that a follower waits for */
        } chains;
        struct {
            uint32_t before, writes_before; /* requests for the record */
        } locks;
        struct {
            vp_part *before;             /* the last one that writes */
            vp_part *_Atomic next_write; /* the one behind, if it writes */
            vp_word *image, *work;       /* the row before a write, and what the transaction has */
            _Atomic bool has_begun, is_done;
        } versions;
    };
};

_Static_assert(sizeof(vp_part) <= 64, "parts are many");

typedef struct {
    vp_tx *tx;
    uint32_t first_part, parts; /* the first one has the number of the batch's instructions before it */
    uint32_t stop;              /* instruction that it was aborted at, or all */
    uint32_t deciders;          /* parts that do not follow */
    bool has_others;            /* instructions that are no part's */
    uint64_t partitions;        /* bits */
    uint64_t owners;            /* threads that have these; bits */
    _Atomic uint32_t pending;   /* parts or threads that it waits for */
    _Atomic bool is_done;
} vp_job;

/* What a record is for the batch with the number of `batch`; for any other, nothing yet. */
typedef struct {
    uint32_t batch;
    uint32_t requests, writes; /* VP_SCHEME_LOCKS: asked for, in order */
    _Atomic uint32_t released, writes_released;
    vp_part *last; /* of the chain, or that writes */
    vp_part *_Atomic first_write;
} vp_record;

typedef struct vp_txscheme_thread vp_txscheme_thread;

struct vp_txscheme_thread {
    alignas(VP_LINE) vp_txscheme *scheme;
    uint32_t index;
    pthread_t id;
    vp_txundo undo;       /* of one transaction, which may abort */
    vp_word undo_length;
    uint64_t undo_room;
    uint64_t aborted;
    uint32_t *seen;       /* by record, in a long transaction: its part, and 1 */
    vp_part *local;       /* VP_SCHEME_CHAINS: parts that it can go on with */
    uint64_t own, done;   /* parts of its records */
    vp_word *images, **rows; /* VP_SCHEME_VERSIONS: room for copies of rows, and by instruction which one */
    uint64_t images_used;
    alignas(VP_LINE) vp_part *_Atomic inbox; /* parts that others found it can go on with */
};

typedef struct {
    alignas(VP_LINE) _Atomic uint32_t turn;
} vp_turn;

typedef struct {
    bool has_parts; /* else jobs have but their partitions */
    void (*link)(vp_txscheme_thread *self); /* NULL: nothing */
    void (*run)(vp_txscheme_thread *self);
} vp_scheme_steps;

struct vp_txscheme {
    vp_txgroup *group;
    vp_txsegments *segments;
    uint64_t segments_at;
    uint32_t kind, threads, batch_most, partitions;
    vp_scheme_steps steps;
    uint64_t batches, redone;
    uint64_t least, small; /* batches of fewer instructions are evaluated by the first thread alone; how many were */
    bool is_awake;  /* the others have been called */
    /* of the batch */
    uint32_t batch, count;
    uint64_t instructions;
    vp_evaluation *run;
    vp_job *jobs;
    vp_part *parts;
    uint16_t *part_of;   /* by instruction of the batch, the part in its job */
    uint32_t *tickets;   /* VP_SCHEME_PARTITION_LOCKS: by part's number, of a partition */
    _Atomic bool is_wrong; /* what nothing waited for has failed */
    uint64_t first_record[VP_TX_TABLES];
    vp_record *records;
    vp_turn turns[VP_SCHEME_PARTITIONS + 1];
    /* the threads */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint64_t calls; /* under the lock */
    _Atomic uint64_t over; /* the last call that has ended, or is about to end without a batch */
    bool is_ended;
    uint32_t started;
    alignas(VP_LINE) _Atomic uint32_t arrived;
    alignas(VP_LINE) _Atomic uint32_t generation;
    vp_txscheme_thread members[VP_SCHEME_THREADS];
};

/* Lets others have the processor, by a yield or a moment's sleep. */
void vp_lend_processor(void);

/* Once more in vain: after some of these others may need the processor. */
static inline void vp_relax(uint32_t *times)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    if (++*times % 64 == 0)
        vp_lend_processor();
}

static inline void vp_wait_for(const _Atomic uint32_t *word, uint32_t value)
{
    for (uint32_t times = 0; atomic_load_explicit(word, memory_order_acquire) != value;)
        vp_relax(&times);
}

static inline vp_part *vp_job_parts(const vp_txscheme *scheme, const vp_job *job)
{
    return scheme->parts + job->first_part;
}

static inline vp_record *vp_part_record(const vp_txscheme *scheme, const vp_part *part)
{
    return &scheme->records[part->record];
}

/* The record of a part, which is made new where it is of another batch; by one thread at a time. */
static inline vp_record *vp_record_now(const vp_txscheme *scheme, const vp_part *part)
{
    vp_record *record = vp_part_record(scheme, part);
    if (record->batch != scheme->batch) {
        record->batch = scheme->batch;
        record->requests = record->writes = 0;
        record->last = NULL;
        atomic_store_explicit(&record->released, 0, memory_order_relaxed);
        atomic_store_explicit(&record->writes_released, 0, memory_order_relaxed);
        atomic_store_explicit(&record->first_write, NULL, memory_order_relaxed);
    }
    return record;
}

/* Of schemes whose threads take jobs as they come: the number of the next one, and whose turn it is to ask for its rows. */
enum { VP_TURN_TO_ASK = 0, VP_NEXT_JOB = 1 };

static inline uint32_t vp_next_job(vp_txscheme *scheme)
{
    return atomic_fetch_add_explicit(&scheme->turns[VP_NEXT_JOB].turn, 1, memory_order_relaxed);
}

static inline void vp_begin_turns(vp_txscheme_thread *self)
{
    for (uint32_t i = 0; self->index == 0 && i <= VP_NEXT_JOB; i++)
        atomic_store_explicit(&self->scheme->turns[i].turn, 0, memory_order_relaxed);
}

/* Runs a job's program as a whole. rows: as vp_program_run's. */
void vp_job_run(vp_txscheme_thread *self, vp_job *job, vp_word *const *rows);

/* Takes jobs [first, end) apart, and notes what they may write. */
void vp_batch_analyse(vp_txscheme_thread *self, uint32_t first, uint32_t end);

/* Goes over to another kind, between two evaluations; none of both may be VP_SCHEME_VERSIONS, whose threads have room of
 * their own. */
void vp_scheme_become(vp_txscheme *scheme, uint32_t kind);

/* An evaluator, whose context is a scheme. */
int vp_scheme_run(vp_evaluation *run, void *scheme);

extern const vp_scheme_steps vp_scheme_chains, vp_scheme_locks, vp_scheme_versions, vp_scheme_partition_locks,
    vp_scheme_no_locks, vp_scheme_partitions_apart;

#endif
