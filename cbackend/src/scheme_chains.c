/* Chains: what all transactions of a batch do to one row, in their order, is a chain, and one thread walks it.
 *
 * A part is a decider if something of its transaction depends on it: a condition or an operand reads what it has read.
 * All others follow. When all deciders of a transaction have come to the front of their chains, who came last runs them
 * together: it is decided then whether the transaction aborts, and what the operands of the followers are. These need
 * not have come; and where a transaction has none but followers, each is run when it comes to the front, and nothing
 * waits for anything. That is exact: a part waits for those before it in its chain, and for what it depends on.
 *
 * Failure. A follower that fails (an overflow, a row that is missing) would have aborted a transaction of which others
 *          may have seen parts. The batch is wrong then, and is done again, serially. The paper leaves out such
 *          operations without taking the others back. Where a transaction is aborted by its deciders, followers before
 *          the place are tried, as one that fails gives another reason.
 * Order.   C0: who comes to the front counts down; the last one acquires what all before it have done. C1: what can go on
 *          is put into the queue of its chain's thread, which acquires it (C2).
 */
#include "crash.h"
#include "scheme.h"

/* -- putting chains together */

static bool is_mine(const vp_txscheme_thread *self, const vp_part *part)
{
    return part->record % self->scheme->threads == self->index;
}

static void push_local(vp_txscheme_thread *self, vp_part *part)
{
    part->chains.queued = self->local;
    self->local = part;
}

/* Those of its rows, in the order of all. They begin in any order. */
static void link_chains(vp_txscheme_thread *self)
{
    vp_txscheme *scheme = self->scheme;
    self->local = NULL;
    self->own = self->done = 0;
    atomic_store_explicit(&self->inbox, NULL, memory_order_relaxed);
    for (uint32_t number = 0; number < scheme->count; number++) {
        const vp_job *job = &scheme->jobs[number];
        vp_part *parts = vp_job_parts(scheme, job);
        for (uint32_t i = 0; i < job->parts; i++) {
            if (!is_mine(self, &parts[i]))
                continue;
            vp_record *record = vp_record_now(scheme, &parts[i]);
            if (record->last)
                record->last->chains.next = &parts[i];
            else
                push_local(self, &parts[i]);
            record->last = &parts[i];
            self->own++;
        }
    }
}

/* -- running parts */

/* Runs instructions of a transaction up to its end, or to where one aborts: those of deciders, or those of one part. */
static uint32_t run_some(vp_txscheme_thread *self, vp_job *job, const vp_part *only, uint64_t *length, uint32_t *at)
{
    vp_txscheme *scheme = self->scheme;
    const uint16_t *part_of = &scheme->part_of[job->first_part];
    const vp_part *parts = vp_job_parts(scheme, job);
    int64_t *registers = vp_tx_registers(job->tx);
    const vp_tx_instruction *program = vp_tx_program(job->tx);
    uint32_t end = only ? only->last + 1u : job->tx->program;
    end = end < job->stop ? end : job->stop;
    vp_program now = {scheme->run->tables, registers, registers + (only ? only->register_at : 0),
                      program + (only ? only->first : 0), program + end, NULL, program};
    uint32_t status = VP_TX_DONE;
    for (; now.step < now.end; now.step++) {
        uint16_t part = part_of[now.step - program];
        bool is_meant = only ? &parts[part] == only && part != VP_NO_PART : part == VP_NO_PART || parts[part].role == VP_PART_DECIDES;
        if (!is_meant)
            now.next += vp_tx_writes_register(now.step->code);
        else if ((status = vp_program_step(self->undo, length, &now)) != VP_TX_DONE)
            break;
    }
    *at = (uint32_t)(now.step - program);
    return status;
}

static void run_follower(vp_txscheme_thread *self, vp_part *part)
{
    vp_job *job = &self->scheme->jobs[part->job];
    uint64_t length = 0;
    uint32_t at;
    VP_CRASH_POINT("scheme: run");
    if (part->first < job->stop && run_some(self, job, part, &length, &at) != VP_TX_DONE)
        atomic_store_explicit(&self->scheme->is_wrong, true, memory_order_relaxed);
    if (job->tx->status != VP_TX_DONE)
        vp_undo_back(self->undo, length, 0);
}

static void run_free(vp_txscheme_thread *self, vp_part *part)
{
    const vp_tx_instruction *step = &part->chains.step;
    vp_program now = {self->scheme->run->tables, NULL, part->chains.result, step, step + 1, NULL, step};
    uint64_t length = 0;
    if (vp_program_step(self->undo, &length, &now) != VP_TX_DONE)
        atomic_store_explicit(&self->scheme->is_wrong, true, memory_order_relaxed);
}

static void decide(vp_txscheme_thread *self, vp_job *job)
{
    uint64_t length = 0;
    uint32_t at;
    VP_CRASH_POINT("scheme: run");
    uint32_t status = run_some(self, job, NULL, &length, &at);
    if (status != VP_TX_DONE) {
        vp_undo_back(self->undo, length, 0);
        job->stop = job->tx->at = at;
        self->aborted++;
    }
    job->tx->status = status;
}

/* -- walking chains */

/* To the thread of its chain. */
static void send(vp_txscheme_thread *self, vp_part *part)
{
    if (is_mine(self, part)) {
        push_local(self, part);
        return;
    }
    vp_txscheme_thread *to = &self->scheme->members[part->record % self->scheme->threads];
    part->chains.queued = atomic_load_explicit(&to->inbox, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&to->inbox, &part->chains.queued, part, memory_order_release, /* C1 -> C2 */
                                                  memory_order_relaxed))
        continue;
}

/* Whether nothing but itself was waited for. */
static bool is_last(_Atomic uint32_t *waits)
{
    return atomic_fetch_sub_explicit(waits, 1, memory_order_acq_rel) == 1; /* C0 */
}

/* Lets all parts of a decided transaction go on that can, but for one. */
static void let_go_on(vp_txscheme_thread *self, const vp_job *job, const vp_part *but)
{
    vp_part *parts = vp_job_parts(self->scheme, job);
    for (uint32_t i = 0; i < job->parts; i++)
        if (parts[i].role == VP_PART_FOLLOWS ? is_last(&parts[i].chains.waits) : &parts[i] != but)
            send(self, &parts[i]);
}

/* From a part on that has come to the front, until one must wait. */
static void walk(vp_txscheme_thread *self, vp_part *part)
{
    for (; part; part = part->chains.next, self->done++) {
        vp_job *job = &self->scheme->jobs[part->job];
        __builtin_prefetch(part->chains.next);
        if (part->role == VP_PART_FREE) {
            run_free(self, part);
        } else if (part->role == VP_PART_FOLLOWS) {
            if (job->deciders && !is_last(&part->chains.waits))
                return;
            run_follower(self, part);
        } else {
            if (!is_last(&job->pending))
                return;
            decide(self, job);
            let_go_on(self, job, part);
        }
    }
}

static vp_part *take(vp_txscheme_thread *self)
{
    if (!self->local)
        self->local = atomic_exchange_explicit(&self->inbox, NULL, memory_order_acquire); /* C2 <- C1 */
    vp_part *part = self->local;
    if (part)
        self->local = part->chains.queued;
    return part;
}

/* Chains are walked from their fronts first; what is sent has been at the front, and waited. */
static void run_chains(vp_txscheme_thread *self)
{
    vp_part *fronts = self->local;
    self->local = NULL;
    uint32_t times = 0;
    while (self->done < self->own) {
        vp_part *part = take(self);
        if (part) {
            if (part->role == VP_PART_FOLLOWS)
                run_follower(self, part);
            self->done++;
            walk(self, part->chains.next);
        } else if (fronts) {
            vp_part *front = fronts;
            fronts = fronts->chains.queued;
            walk(self, front);
        } else {
            vp_relax(&times);
        }
    }
}

const vp_scheme_steps vp_scheme_chains = {true, link_chains, run_chains};
