/* What a predecessor has published, compared with what its successor records for the same tuples.
 *
 * It is compared when positions are known, and the process of all tuples is over: what one of them wanted that raises in the
 * end was never published. */
#include "record.h"

static int diverged(const Recorder *self, const vp_tx *found, const char *what)
{
    PyErr_Format(self->diverged,
                 "the transactions of the tuple at position (%lld, %llu, %llu) are others than those that were said before the worker "
                 "died: %s. A bolt with tables has to say the same for the same tuple again",
                 (long long)found->ts, (unsigned long long)found->hi, (unsigned long long)found->lo, what);
    return -1;
}

static int compare(const vp_tx *tx, const vp_tx *other)
{
    if (tx->ts != other->ts)
        return tx->ts < other->ts ? -1 : 1;
    if (tx->hi != other->hi)
        return tx->hi < other->hi ? -1 : 1;
    return tx->lo == other->lo ? 0 : tx->lo < other->lo ? -1 : 1;
}

/* Whether programs are the same; -1 with an error set where they are not. */
static int check_program(const Recorder *self, const vp_tx *found, const vp_tx *now)
{
    const vp_tx_instruction *before = tx_program(found), *program = tx_program(now);
    char what[120];
    uint32_t i = 0;
    while (i < now->program && i < found->program && memcmp(&before[i], &program[i], sizeof *program) == 0)
        i++;
    if (i == now->program && i == found->program)
        return 0;
    PyOS_snprintf(what, sizeof what, "number %u of them differs from its operation %lu on (%u operations then, %u now)",
                  found->ordinal + 1u, (unsigned long)i + 1, found->program, now->program);
    return diverged(self, found, what);
}

static int check_same(const Recorder *self, const vp_tx *found, const vp_tx *now)
{
    char what[120];
    int order = compare(found, now);
    if (order < 0 || (order == 0 && found->ordinal < now->ordinal))
        return diverged(self, found, "one of them is missing");
    if (order > 0 || found->ordinal != now->ordinal) {
        PyOS_snprintf(what, sizeof what, "number %u of them is new", now->ordinal + 1u);
        return diverged(self, now, what);
    }
    if (found->kind != now->kind)
        return diverged(self, found, now->kind == VP_TX_ALONE ? "a function is to run alone where operations were said"
                                                              : "operations are said where a function was to run alone");
    return check_program(self, found, now);
}

/* The next one that waits is in the log already; -1 with an error set if that is another one. */
static int match(Recorder *self)
{
    const vp_tx *now = (vp_tx *)(self->waiting + self->waiting_first);
    uint64_t at = self->at;
    vp_tx *found = vp_txlog_tx(self->log, &at);
    if (check_same(self, found, now))
        return -1;
    found->input = now->input; /* nobody else reads it */
    self->at = self->placed = at + found->size;
    self->waiting_first += now->size;
    return found->kind == VP_TX_ALONE ? tx_know_alone(self, found) : 0;
}

/* What was published, and is not said any more by a tuple up to the last one that was processed; -1 with an error set. */
static int check_missing(const Recorder *self, vp_position last)
{
    uint64_t at = self->at;
    if (at >= self->replay_end)
        return 0;
    const vp_tx *found = vp_txlog_tx(self->log, &at), place = {.ts = last.ts, .hi = last.hi, .lo = last.lo};
    int order = compare(found, &place);
    if (order > 0 || (order == 0 && found->ordinal == 0)) /* it is of a tuple to come, which may have the same place */
        return 0;
    return diverged(self, found, "one of them is missing");
}

int tx_check_collected(const Recorder *self, vp_position position)
{
    uint64_t at = self->at;
    if (at >= self->replay_end)
        return 0;
    const vp_tx *found = vp_txlog_tx(self->log, &at), place = {.ts = position.ts, .hi = position.hi, .lo = position.lo};
    return compare(found, &place) < 0 ? diverged(self, found, "one of them is missing") : 0;
}

int tx_replay(Recorder *self, vp_position last)
{
    while (self->at < self->replay_end && self->waiting_first < self->waiting_end)
        if (match(self))
            return -1;
    if (self->waiting_first == self->waiting_end)
        self->waiting_first = self->waiting_placed = self->waiting_end = 0;
    return check_missing(self, last);
}
