/* A snapshot of a table: its rows as they were at a cut, written in pieces while the table goes on changing.
 *
 * Pending are the rows that are to be written and are not yet: all, or those that had changed at the cut. Whoever changes
 * one of these, or takes it out, has its image saved before. So does whoever compacts the table, for all of them. A row
 * that had left at the cut is told by its number. All of this is in private memory, and dies with its process.
 */
#ifndef VIPER_SRC_SNAPSHOT_H
#define VIPER_SRC_SNAPSHOT_H

#include "changes.h"

/* Saves a row's image, NULL for one that has left: 0; 1 where that is enough for now; or -1, and the snapshot has failed. */
typedef int vp_save(void *context, vp_row *row, uint64_t number);

/* Zeroed, nothing is pending. */
typedef struct {
    uint64_t rows;   /* numbers that there were at the cut; 0: nothing is pending */
    uint64_t next;   /* those below this one are written */
    bool is_whole;   /* whether all rows are written */
    uint64_t *saved; /* a bit for each row whose image was saved; NULL: none was */
} vp_snapshot;

/* Begins one, behind vp_changes_cut: of all rows, with which `changes` may be NULL, or of what has changed. */
void vp_snapshot_begin(vp_snapshot *snapshot, const vp_keyed *table, bool is_whole);

/* Gives it up, or ends it. */
void vp_snapshot_end(vp_snapshot *snapshot);

/* Where a pending row is about to change, saves its image: 0, or -1 as vp_save. */
int vp_snapshot_save(vp_snapshot *snapshot, const vp_writer *writer, const vp_changes *changes, vp_row *row, vp_save *save,
                     void *context);

/* Saves pending rows in their order, until that is enough or nothing is pending: 0, or -1 as vp_save. Before rows get
 * other numbers, all are to be saved. */
int vp_snapshot_walk(vp_snapshot *snapshot, const vp_writer *writer, const vp_keyed *table, const vp_changes *changes,
                     vp_save *save, void *context);

/* Asks memory ahead for what says whether the row of a number is pending. */
static inline void vp_snapshot_fetch(const vp_snapshot *snapshot, uint64_t number)
{
    if (snapshot->saved && number < snapshot->rows)
        __builtin_prefetch(&snapshot->saved[number / 64], 1);
}

static inline bool vp_snapshot_is_pending(const vp_snapshot *snapshot)
{
    return snapshot->rows;
}

#endif
