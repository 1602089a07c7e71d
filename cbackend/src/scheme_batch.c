/* Transactions are taken apart: which rows each of them has to do with, and how; and the words that it may write. Or run
 * as a whole. */
#include "crash.h"
#include "scheme.h"

enum { FEW = 16, KNOWN_REGISTERS = 64 };

/* -- words that may be written */

typedef struct {
    vp_txbefore *entries;
    uint64_t length;
    char *arena;
} notes;

static void note(notes *to, const vp_word *word)
{
    to->entries[to->length++] = (vp_txbefore){(uint64_t)((const char *)word - to->arena), vp_row_word(word)};
}

static void note_row(notes *to, const vp_word *row, uint64_t columns)
{
    note(to, &row[VP_ROW_HEADER]);
    for (uint64_t column = 0; column < columns; column++)
        note(to, &row[VP_ROW_COLUMNS + column]);
}

static void note_element(notes *to, const vp_txtable *tables, const vp_tx_instruction *step)
{
    const vp_txtable *of = &tables[tables[step->table].elements[step->column]];
    const vp_word *element = (const vp_word *)(of->rows + (uint64_t)step->operand * of->stride);
    note(to, &element[VP_ROW_HEADER]);
    note(to, &element[VP_ROW_COLUMNS]);
}

/* A row that is there when the batch begins may be deleted in it, and be made anew. */
static void note_step(notes *to, const vp_txtable *tables, const vp_tx_instruction *step)
{
    const vp_word *row = vp_program_row(tables, step);
    const vp_shared *table = tables[step->table].table;
    uint8_t code = step->code;
    if (code == VP_TX_DELETE)
        note(to, &row[VP_ROW_HEADER]);
    else if (code == VP_TX_PUT || code == VP_TX_PUT_IF_ABSENT || table->has_defaults ||
             (code == VP_TX_SET && table->columns == 1))
        note_row(to, row, table->columns);
    else
        note(to, &row[VP_ROW_COLUMNS + step->column]);
    if (code == VP_TX_SET_ADD || code == VP_TX_SET_DISCARD)
        note_element(to, tables, step);
}

/* -- parts */

static bool is_access(uint8_t code)
{
    return code <= VP_TX_EXISTS;
}

static bool is_write(uint8_t code)
{
    return is_access(code) && code != VP_TX_READ && code != VP_TX_SET_HAS && code != VP_TX_EXISTS;
}

/* The records of a transaction's parts, where these are few: they are searched one after the other. */
typedef struct {
    uint32_t records[FEW];
} few;

/* The part of a record in a job: that of before, or a new one. */
static uint32_t part_at(vp_txscheme_thread *self, vp_job *job, few *known, uint32_t record)
{
    if (job->tx->program <= FEW) {
        uint32_t at = 0;
        while (at < job->parts && known->records[at] != record)
            at++;
        known->records[at] = record;
        job->parts += at == job->parts;
        return at;
    }
    const vp_part *parts = vp_job_parts(self->scheme, job);
    uint32_t seen = self->seen[record];
    if (seen && seen <= job->parts && parts[seen - 1].record == record)
        return seen - 1;
    self->seen[record] = ++job->parts;
    return job->parts - 1;
}

static void begin_part(const vp_txscheme *scheme, vp_part *part, uint32_t job, uint32_t record)
{
    part->job = job;
    part->record = record;
    part->writes = false;
    part->role = VP_PART_FOLLOWS;
    if (scheme->kind == VP_SCHEME_CHAINS) {
        part->chains.next = NULL;
    } else if (scheme->kind == VP_SCHEME_VERSIONS) {
        atomic_store_explicit(&part->versions.next_write, NULL, memory_order_relaxed);
        atomic_store_explicit(&part->versions.has_begun, false, memory_order_relaxed);
        atomic_store_explicit(&part->versions.is_done, false, memory_order_relaxed);
    }
}

/* The registers that something reads; all bits, where nothing can follow: there are too many for a word, or what is
 * passed over depends on a row. */
static uint64_t used_registers(vp_tx *tx)
{
    uint64_t used = 0;
    const vp_tx_instruction *program = vp_tx_program(tx);
    if (tx->registers >= KNOWN_REGISTERS)
        return UINT64_MAX;
    for (uint32_t i = 0; i < tx->program; i++) {
        const vp_tx_instruction *step = &program[i];
        if (step->code == VP_TX_PUT_IF_ABSENT)
            return UINT64_MAX;
        if ((step->flags & VP_TX_REGISTER) && !(step->code >= VP_TX_SET_ADD && step->code <= VP_TX_SET_HAS))
            used |= UINT64_C(1) << step->operand;
        if (!is_access(step->code))
            used |= UINT64_C(1) << step->row;
    }
    return used;
}

static uint64_t owners_of(const vp_txscheme *scheme, uint64_t partitions)
{
    uint64_t owners = 0;
    for (uint64_t left = partitions; left; left &= left - 1)
        owners |= UINT64_C(1) << (uint32_t)__builtin_ctzll(left) % scheme->threads;
    return owners;
}

/* What does not have to do with parts: partitions, and notes. */
static void take_access(const vp_txscheme *scheme, vp_job *job, const vp_tx_instruction *step, notes *to)
{
    job->partitions |= UINT64_C(1) << step->row % scheme->partitions;
    if (is_write(step->code))
        note_step(to, scheme->run->tables, step);
}

static void take_apart(vp_txscheme_thread *self, uint32_t number, notes *to)
{
    vp_txscheme *scheme = self->scheme;
    vp_job *job = &scheme->jobs[number];
    const vp_tx_instruction *program = vp_tx_program(job->tx);
    const bool has_versions = scheme->kind == VP_SCHEME_VERSIONS; /* which elements have not */
    uint64_t used = scheme->kind == VP_SCHEME_CHAINS ? used_registers(job->tx) : 0;
    uint32_t written = 0;
    job->has_others = false;
    few known;
    for (uint32_t i = 0; i < job->tx->program; i++) {
        const vp_tx_instruction *step = &program[i];
        uint16_t *part_of = &scheme->part_of[job->first_part + i];
        bool writes_register = vp_tx_writes_register(step->code);
        *part_of = VP_NO_PART;
        if (is_access(step->code)) {
            uint32_t record = (uint32_t)(scheme->first_record[step->table] + step->row), had = job->parts;
            uint32_t index = part_at(self, job, &known, record);
            vp_part *part = vp_job_parts(scheme, job) + index;
            if (index == had) {
                begin_part(scheme, part, number, record);
                part->first = (uint16_t)i;
                part->register_at = (uint16_t)written;
            }
            *part_of = (uint16_t)index;
            part->last = (uint16_t)i;
            part->writes |= is_write(step->code) || (has_versions && step->code == VP_TX_SET_HAS);
            if (used == UINT64_MAX || (writes_register && used >> written & 1))
                part->role = VP_PART_DECIDES;
            take_access(scheme, job, step, to);
        }
        job->has_others |= !is_access(step->code);
        written += writes_register;
    }
}

static void take_accesses(const vp_txscheme *scheme, vp_job *job, notes *to)
{
    const vp_tx_instruction *program = vp_tx_program(job->tx);
    for (uint32_t i = 0; i < job->tx->program; i++)
        if (is_access(program[i].code))
            take_access(scheme, job, &program[i], to);
}

/* Nothing is decided in such a transaction, so all it takes lies in the part: a Grep and Sum takes 443 ns instead of
 * 518 on one core, in batches of 500. */
static void set_free(vp_job *job, vp_part *part)
{
    if (part->first != part->last)
        return;
    part->role = VP_PART_FREE;
    part->chains.step = vp_tx_program(job->tx)[part->first];
    part->chains.result = vp_tx_registers(job->tx) + part->register_at;
}

/* How many parts must have come before it is decided whether the transaction aborts. Instructions of no part are run then;
 * where they need nothing of any part, as conditions that are known before, the first one that comes up decides. */
static void count_deciders(vp_txscheme_thread *self, vp_job *job)
{
    vp_part *parts = vp_job_parts(self->scheme, job);
    job->deciders = 0;
    job->stop = job->tx->program;
    if (job->parts == 0) {
        vp_job_run(self, job, NULL);
        return;
    }
    for (uint32_t i = 0; i < job->parts; i++)
        job->deciders += parts[i].role == VP_PART_DECIDES;
    if (job->has_others && job->deciders == 0) {
        parts[0].role = VP_PART_DECIDES;
        job->deciders = 1;
    }
    for (uint32_t i = 0; i < job->parts; i++)
        if (job->deciders)
            atomic_store_explicit(&parts[i].chains.waits, 2, memory_order_relaxed);
        else
            set_free(job, &parts[i]);
    atomic_store_explicit(&job->pending, job->deciders, memory_order_relaxed);
    if (job->deciders == 0)
        job->tx->status = VP_TX_DONE;
}

void vp_batch_analyse(vp_txscheme_thread *self, uint32_t first, uint32_t end)
{
    vp_txscheme *scheme = self->scheme;
    notes to = {vp_txsegment_entries(scheme->segments, self->index), 0, vp_txgroup_arena(scheme->group)};
    for (uint32_t number = first; number < end; number++) {
        vp_job *job = &scheme->jobs[number];
        job->parts = 0;
        job->partitions = 0;
        if (scheme->steps.has_parts)
            take_apart(self, number, &to);
        else
            take_accesses(scheme, job, &to);
        job->owners = owners_of(scheme, job->partitions);
        atomic_store_explicit(&job->pending, (uint32_t)__builtin_popcountll(job->owners), memory_order_relaxed);
        atomic_store_explicit(&job->is_done, false, memory_order_relaxed);
        if (scheme->kind == VP_SCHEME_CHAINS)
            count_deciders(self, job);
    }
    /* Relaxed: it counts when the first thread says so, behind a barrier. */
    atomic_store_explicit(&vp_txsegment_at(scheme->segments, self->index)->length, to.length, memory_order_relaxed);
}

void vp_job_run(vp_txscheme_thread *self, vp_job *job, vp_word *const *rows)
{
    uint64_t length = 0;
    VP_CRASH_POINT("scheme: run");
    self->aborted += vp_program_run(self->undo, &length, self->scheme->run->tables, job->tx, rows) != VP_TX_DONE;
}
