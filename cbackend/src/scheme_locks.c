/* Schemes that lock. Threads take transactions in turn, and wait for earlier ones only; so one of them can always go on.
 *
 * Rows.       A thread that has nothing to do takes the next transaction. That whose turn it is asks for its rows, and lets
 *             the next one ask (L0). A request to write waits until all before it have been released, one to read until all
 *             writes before it have; since those who ask later wait for it in turn, counts of what was asked for and
 *             released tell. (With transactions dealt out beforehand, threads wait for long ones of others: ledger
 *             transactions of 2 us then gain 1.4 times on two threads, instead of 1.6.)
 * Partitions. Each has a turn of its own: tickets were given in the order of all.
 */
#include "crash.h"
#include "scheme.h"

static void ask(const vp_txscheme *scheme, vp_part *part)
{
    vp_record *record = vp_record_now(scheme, part);
    part->locks.before = record->requests++;
    part->locks.writes_before = record->writes;
    record->writes += part->writes;
}

static void wait_for(const vp_txscheme *scheme, const vp_part *part)
{
    const vp_record *record = vp_part_record(scheme, part);
    if (part->writes)
        vp_wait_for(&record->released, part->locks.before); /* L2 <- L1 */
    else
        vp_wait_for(&record->writes_released, part->locks.writes_before); /* L2 <- L1 */
}

static void release(const vp_txscheme *scheme, const vp_part *part)
{
    vp_record *record = vp_part_record(scheme, part);
    if (part->writes)
        atomic_fetch_add_explicit(&record->writes_released, 1, memory_order_release); /* L1 -> L2 */
    atomic_fetch_add_explicit(&record->released, 1, memory_order_release); /* L1 -> L2 */
}

static void run_with_rows(vp_txscheme_thread *self)
{
    vp_txscheme *scheme = self->scheme;
    _Atomic uint32_t *turn = &scheme->turns[VP_TURN_TO_ASK].turn;
    for (uint32_t number; (number = vp_next_job(scheme)) < scheme->count;) {
        vp_job *job = &scheme->jobs[number];
        vp_part *parts = vp_job_parts(scheme, job);
        vp_wait_for(turn, number); /* L0 */
        for (uint32_t i = 0; i < job->parts; i++)
            ask(scheme, &parts[i]);
        atomic_store_explicit(turn, number + 1, memory_order_release); /* L0 */
        for (uint32_t i = 0; i < job->parts; i++)
            wait_for(scheme, &parts[i]);
        VP_CRASH_POINT("scheme: granted");
        vp_job_run(self, job, NULL);
        for (uint32_t i = 0; i < job->parts; i++)
            release(scheme, &parts[i]);
    }
}

const vp_scheme_steps vp_scheme_locks = {true, vp_begin_turns, run_with_rows};

/* -- partitions */

/* Each thread gives the tickets of some partitions. Those of a transaction lie one behind the other, by partition. */
static void give_tickets(vp_txscheme_thread *self)
{
    vp_txscheme *scheme = self->scheme;
    for (uint32_t partition = self->index; partition < scheme->partitions; partition += scheme->threads) {
        uint64_t bit = UINT64_C(1) << partition;
        uint32_t given = 0;
        for (uint32_t number = 0; number < scheme->count; number++) {
            const vp_job *job = &scheme->jobs[number];
            if (job->partitions & bit)
                scheme->tickets[job->first_part + (uint32_t)__builtin_popcountll(job->partitions & (bit - 1))] = given++;
        }
        atomic_store_explicit(&scheme->turns[partition].turn, 0, memory_order_relaxed);
    }
}

static void run_with_partitions(vp_txscheme_thread *self)
{
    vp_txscheme *scheme = self->scheme;
    for (uint32_t number = self->index; number < scheme->count; number += scheme->threads) {
        vp_job *job = &scheme->jobs[number];
        const uint32_t *tickets = &scheme->tickets[job->first_part];
        for (uint64_t left = job->partitions; left; left &= left - 1)
            vp_wait_for(&scheme->turns[__builtin_ctzll(left)].turn, *tickets++); /* L2 <- L1 */
        VP_CRASH_POINT("scheme: granted");
        vp_job_run(self, job, NULL);
        for (uint64_t left = job->partitions; left; left &= left - 1)
            atomic_fetch_add_explicit(&scheme->turns[__builtin_ctzll(left)].turn, 1, memory_order_release); /* L1 -> L2 */
    }
}

const vp_scheme_steps vp_scheme_partition_locks = {false, give_tickets, run_with_partitions};

/* -- no locks at all */

static void run_at_once(vp_txscheme_thread *self)
{
    for (uint32_t number = self->index; number < self->scheme->count; number += self->scheme->threads)
        vp_job_run(self, &self->scheme->jobs[number], NULL);
}

const vp_scheme_steps vp_scheme_no_locks = {false, NULL, run_at_once};

/* -- partitions that belong to threads */

/* Each thread goes through all transactions, and stops at those of its partitions. What belongs to several threads is run
 * by the one that comes last, when all are through with what lies before; the others wait for that. */
static void run_apart(vp_txscheme_thread *self)
{
    vp_txscheme *scheme = self->scheme;
    const uint64_t mine = UINT64_C(1) << self->index;
    for (uint32_t number = 0; number < scheme->count; number++) {
        vp_job *job = &scheme->jobs[number];
        bool is_of_none = !job->owners && self->index == 0;
        if (!(job->owners & mine) && !is_of_none)
            continue;
        bool is_shared = (job->owners & (job->owners - 1)) != 0;
        if (is_shared && atomic_fetch_sub_explicit(&job->pending, 1, memory_order_acq_rel) != 1) { /* L1, L2 */
            for (uint32_t times = 0; !atomic_load_explicit(&job->is_done, memory_order_acquire);) /* L2 <- L1 */
                vp_relax(&times);
            continue;
        }
        VP_CRASH_POINT("scheme: granted");
        vp_job_run(self, job, NULL);
        if (is_shared)
            atomic_store_explicit(&job->is_done, true, memory_order_release); /* L1 -> L2 */
    }
}

const vp_scheme_steps vp_scheme_partitions_apart = {false, NULL, run_apart};
