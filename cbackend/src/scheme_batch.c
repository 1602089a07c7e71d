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

/* The part of a record in a job: that of before, or a new one. */
static uint32_t part_at(vp_txscheme_thread *self, vp_job *job, uint32_t record)
{
    vp_part *parts = vp_job_parts(self->scheme, job);
    bool is_long = job->tx->program > FEW;
    if (is_long && self->seen[record] && self->seen[record] <= job->parts && parts[self->seen[record] - 1].record == record)
        return self->seen[record] - 1;
    for (uint32_t i = 0; !is_long && i < job->parts; i++)
        if (parts[i].record == record)
            return i;
    if (is_long)
        self->seen[record] = job->parts + 1;
    return job->parts++;
}

static void begin_part(vp_part *part, uint32_t job, uint32_t record)
{
    part->job = job;
    part->record = record;
    part->writes = false;
    part->follows = true;
    part->next = NULL;
    atomic_store_explicit(&part->next_write, NULL, memory_order_relaxed);
    atomic_store_explicit(&part->has_begun, false, memory_order_relaxed);
    atomic_store_explicit(&part->is_done, false, memory_order_relaxed);
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

static void take_apart(vp_txscheme_thread *self, uint32_t number, notes *to)
{
    vp_txscheme *scheme = self->scheme;
    vp_job *job = &scheme->jobs[number];
    const vp_txtable *tables = scheme->run->tables;
    const vp_tx_instruction *program = vp_tx_program(job->tx);
    const bool has_chains = scheme->kind == VP_SCHEME_CHAINS;
    const bool has_versions = scheme->kind == VP_SCHEME_VERSIONS; /* which elements have not */
    uint64_t used = has_chains ? used_registers(job->tx) : 0;
    uint32_t written = 0;
    job->parts = 0;
    job->partitions = 0;
    for (uint32_t i = 0; i < job->tx->program; i++) {
        const vp_tx_instruction *step = &program[i];
        uint16_t *part_of = &scheme->part_of[job->first_part + i];
        bool writes_register = vp_tx_writes_register(step->code);
        *part_of = VP_NO_PART;
        if (is_access(step->code)) {
            uint32_t record = (uint32_t)(scheme->first_record[step->table] + step->row), had = job->parts;
            uint32_t index = part_at(self, job, record);
            vp_part *part = vp_job_parts(scheme, job) + index;
            if (index == had) {
                begin_part(part, number, record);
                part->first = (uint16_t)i;
                part->register_at = (uint16_t)written;
            }
            *part_of = (uint16_t)index;
            part->last = (uint16_t)i;
            part->writes |= is_write(step->code) || (has_versions && step->code == VP_TX_SET_HAS);
            part->follows &= used != UINT64_MAX && !(writes_register && used >> written & 1);
            job->partitions |= UINT64_C(1) << step->row % scheme->partitions;
            if (is_write(step->code))
                note_step(to, tables, step);
        }
        written += writes_register;
    }
    job->owners = owners_of(scheme, job->partitions);
    atomic_store_explicit(&job->is_done, false, memory_order_relaxed);
}

/* How many parts must have come before it is decided whether the transaction aborts. */
static void count_deciders(const vp_txscheme *scheme, vp_job *job)
{
    vp_part *parts = vp_job_parts(scheme, job);
    job->deciders = 0;
    for (uint32_t i = 0; i < job->parts; i++)
        job->deciders += !parts[i].follows;
    for (uint32_t i = 0; i < job->parts; i++)
        atomic_store_explicit(&parts[i].waits, 1 + (job->deciders > 0), memory_order_relaxed);
    atomic_store_explicit(&job->pending, job->deciders, memory_order_relaxed);
    job->stop = job->tx->program;
    if (job->deciders == 0)
        job->tx->status = VP_TX_DONE;
}

void vp_batch_analyse(vp_txscheme_thread *self, uint32_t first, uint32_t end)
{
    vp_txscheme *scheme = self->scheme;
    notes to = {vp_txsegment_entries(scheme->segments, self->index), 0, vp_txgroup_arena(scheme->group)};
    for (uint32_t number = first; number < end; number++) {
        vp_job *job = &scheme->jobs[number];
        take_apart(self, number, &to);
        if (scheme->kind == VP_SCHEME_CHAINS)
            count_deciders(scheme, job);
        else
            atomic_store_explicit(&job->pending, (uint32_t)__builtin_popcountll(job->owners), memory_order_relaxed);
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
