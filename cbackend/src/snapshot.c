#include "snapshot.h"

#include <stdlib.h>

void vp_snapshot_begin(vp_snapshot *snapshot, const vp_keyed *table, bool is_whole)
{
    vp_snapshot_end(snapshot);
    *snapshot = (vp_snapshot){.rows = vp_keyed_rows(table), .is_whole = is_whole};
}

void vp_snapshot_end(vp_snapshot *snapshot)
{
    free(snapshot->saved);
    *snapshot = (vp_snapshot){0};
}

static bool is_pending(const vp_snapshot *snapshot, const vp_writer *writer, const vp_changes *changes, uint64_t number)
{
    if (number < snapshot->next || number >= snapshot->rows)
        return false;
    if (!snapshot->is_whole && !vp_changes_had(writer, changes, number))
        return false;
    return !snapshot->saved || !(snapshot->saved[number / 64] >> number % 64 & 1);
}

/* A bit for a row whose image was saved: 0, or -1. */
static int note(vp_snapshot *snapshot, uint64_t number)
{
    if (!snapshot->saved)
        snapshot->saved = calloc(snapshot->rows / 64 + 1, sizeof *snapshot->saved);
    if (!snapshot->saved)
        return -1;
    snapshot->saved[number / 64] |= UINT64_C(1) << number % 64;
    return 0;
}

int vp_snapshot_save(vp_snapshot *snapshot, const vp_writer *writer, const vp_changes *changes, vp_row *row, vp_save *save,
                     void *context)
{
    uint64_t number = vp_number_of(row);
    if (!is_pending(snapshot, writer, changes, number))
        return 0;
    return save(context, row, number) < 0 || note(snapshot, number) ? -1 : 0;
}

/* A bit for each of 64 rows that had changed at the cut. */
static uint64_t bits_of(const vp_writer *writer, const vp_changes *changes, uint64_t word)
{
    if (word >= vp_read(&changes->words))
        return 0;
    return vp_read(vp_changes_map(writer, changes, !vp_read(&changes->current)) + word);
}

/* Asks memory ahead for the rows of 64 that have changed. */
static void fetch(const vp_snapshot *snapshot, const vp_writer *writer, const vp_keyed *table, const vp_changes *changes,
                  uint64_t word)
{
    for (uint64_t bits = bits_of(writer, changes, word); bits; bits &= bits - 1) {
        uint64_t number = word * 64 + (uint64_t)__builtin_ctzll(bits);
        if (number < snapshot->rows)
            vp_keyed_fetch(writer, table, number);
    }
}

/* The next number from `next` on that may be pending: of rows that have not changed whole words are left out. */
static void skip(vp_snapshot *snapshot, const vp_writer *writer, const vp_keyed *table, const vp_changes *changes)
{
    while (!snapshot->is_whole && snapshot->next < snapshot->rows) {
        uint64_t word = snapshot->next / 64;
        if (snapshot->next % 64 == 0)
            fetch(snapshot, writer, table, changes, word + 1);
        uint64_t bits = bits_of(writer, changes, word) & ~UINT64_C(0) << snapshot->next % 64;
        if (bits) {
            snapshot->next = word * 64 + (uint64_t)__builtin_ctzll(bits);
            return;
        }
        snapshot->next = (word + 1) * 64;
    }
}

/* Whether a row is told of: one that had left at the cut is, unless all are written. */
static bool is_told(const vp_snapshot *snapshot, const vp_row *row)
{
    return vp_row_is_alive(row) || !snapshot->is_whole;
}

int vp_snapshot_walk(vp_snapshot *snapshot, const vp_writer *writer, const vp_keyed *table, const vp_changes *changes,
                     vp_save *save, void *context)
{
    int enough = 0;
    while (enough == 0 && (skip(snapshot, writer, table, changes), snapshot->next < snapshot->rows)) {
        uint64_t number = snapshot->next;
        vp_row *row = vp_keyed_row(writer, table, number);
        if (is_pending(snapshot, writer, changes, number) && is_told(snapshot, row))
            enough = save(context, vp_row_is_alive(row) ? row : NULL, number);
        if (enough < 0)
            return -1;
        snapshot->next = number + 1;
    }
    if (snapshot->next >= snapshot->rows)
        vp_snapshot_end(snapshot);
    return 0;
}
