/* Locks with versions: a write waits for the writes before it, and so does a read; but no write waits for reads.
 *
 * Rows are asked for in turn, as in scheme_locks.c, so each request knows the last write before it, and each write the
 * next one. A transaction runs on copies of its rows. One that writes keeps the row as it was, says so (V0), then changes
 * it (V1), and is done (V2). One that reads has its version if the write before it is done, and the next one has not
 * begun; it looks at that again when it has copied the row (V4), and takes what the next one has kept if so. Words of
 * rows are written with release and read with acquire here: who has a word that is too new sees V0 behind it.
 *
 * Elements of sets have no versions; whoever looks at them asks to write.
 */
#include "crash.h"
#include "scheme.h"

static uint64_t words_of(const vp_txscheme *scheme, const vp_job *job, const vp_part *part)
{
    return VP_ROW_COLUMNS + scheme->run->tables[vp_tx_program(job->tx)[part->first].table].table->columns;
}

static vp_word *row_of(const vp_txscheme *scheme, const vp_job *job, const vp_part *part)
{
    return vp_program_row(scheme->run->tables, &vp_tx_program(job->tx)[part->first]);
}

static void ask(const vp_txscheme *scheme, vp_part *part)
{
    vp_record *record = vp_record_now(scheme, part);
    part->versions.before = record->last;
    if (!part->writes)
        return;
    vp_part *_Atomic *behind = record->last ? &record->last->versions.next_write : &record->first_write;
    atomic_store_explicit(behind, part, memory_order_release);
    record->last = part;
}

static void copy(vp_word *to, const vp_word *from, uint64_t words)
{
    for (uint64_t i = 0; i < words; i++) {
        uint64_t word = atomic_load_explicit(&from[i], memory_order_acquire); /* V3 <- V1 */
        atomic_store_explicit(&to[i], word, memory_order_relaxed);
    }
}

static vp_word *new_image(vp_txscheme_thread *self, uint64_t words)
{
    vp_word *image = &self->images[self->images_used];
    self->images_used += words;
    return image;
}

/* What the next write has kept, if it has begun. */
static const vp_word *kept_by_next(const vp_txscheme *scheme, const vp_part *part)
{
    vp_record *record = vp_part_record(scheme, part);
    vp_part *_Atomic *behind = part->versions.before ? &part->versions.before->versions.next_write : &record->first_write;
    const vp_part *next = atomic_load_explicit(behind, memory_order_acquire);
    bool has_begun = next && atomic_load_explicit(&next->versions.has_begun, memory_order_acquire); /* V4 <- V0 */
    return has_begun ? next->versions.image : NULL;
}

static void take_copy(vp_txscheme_thread *self, const vp_job *job, vp_part *part)
{
    const vp_txscheme *scheme = self->scheme;
    uint64_t words = words_of(scheme, job, part);
    part->versions.work = new_image(self, words);
    copy(part->versions.work, row_of(scheme, job, part), words);
    if (part->writes) {
        part->versions.image = new_image(self, words);
        copy(part->versions.image, part->versions.work, words);
        return;
    }
    const vp_word *kept = kept_by_next(scheme, part);
    if (kept)
        copy(part->versions.work, kept, words);
}

static void wait_for(const vp_part *part)
{
    if (part->versions.before)
        for (uint32_t times = 0; !atomic_load_explicit(&part->versions.before->versions.is_done, memory_order_acquire);) /* V3 <- V2 */
            vp_relax(&times);
}

/* Also where the transaction was aborted: who reads the version before it looks for no other write. */
static void put_back(const vp_txscheme *scheme, const vp_job *job, vp_part *part)
{
    if (!part->writes)
        return;
    vp_word *row = row_of(scheme, job, part);
    uint64_t words = words_of(scheme, job, part);
    atomic_store_explicit(&part->versions.has_begun, true, memory_order_release); /* V0 -> V4 */
    for (uint64_t i = 0; i < words; i++) {
        uint64_t word = vp_row_word(&part->versions.work[i]);
        if (word != vp_row_word(&part->versions.image[i]))
            atomic_store_explicit(&row[i], word, memory_order_release); /* V1 -> V3 */
    }
    VP_CRASH_POINT("scheme: granted");
    atomic_store_explicit(&part->versions.is_done, true, memory_order_release); /* V2 -> V3 */
}

static void run_on_copies(vp_txscheme_thread *self, vp_job *job)
{
    vp_txscheme *scheme = self->scheme;
    vp_part *parts = vp_job_parts(scheme, job);
    const uint16_t *part_of = &scheme->part_of[job->first_part];
    for (uint32_t i = 0; i < job->parts; i++) {
        wait_for(&parts[i]);
        VP_CRASH_POINT("scheme: granted");
        take_copy(self, job, &parts[i]);
    }
    for (uint32_t i = 0; i < job->tx->program; i++)
        self->rows[i] = part_of[i] == VP_NO_PART ? NULL : parts[part_of[i]].versions.work;
    vp_job_run(self, job, self->rows);
    for (uint32_t i = 0; i < job->parts; i++)
        put_back(scheme, job, &parts[i]);
}

static void run_with_versions(vp_txscheme_thread *self)
{
    vp_txscheme *scheme = self->scheme;
    _Atomic uint32_t *turn = &scheme->turns[VP_TURN_TO_ASK].turn;
    self->images_used = 0;
    for (uint32_t number; (number = vp_next_job(scheme)) < scheme->count;) {
        vp_job *job = &scheme->jobs[number];
        vp_wait_for(turn, number);
        for (uint32_t i = 0; i < job->parts; i++)
            ask(scheme, &vp_job_parts(scheme, job)[i]);
        atomic_store_explicit(turn, number + 1, memory_order_release);
        run_on_copies(self, job);
    }
}

const vp_scheme_steps vp_scheme_versions = {true, vp_begin_turns, run_with_versions};
