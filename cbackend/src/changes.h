/* How the changes of a table lie in the arena, and how a row is marked. See viper/changes.h.
 *
 * Two maps of as many words lie one behind the other in a cell. Which of them is of the time since the last cut is said
 * by one word, so that a cut is a store. The other one belongs to a snapshot until somebody knows what became of that.
 */
#ifndef VIPER_SRC_CHANGES_H
#define VIPER_SRC_CHANGES_H

#include <stdalign.h>

#include "keyed.h"
#include "layout.h"
#include "viper/changes.h"

/* What a checkpoint has of a table. */
typedef struct {
    vp_word generation; /* 0: nothing */
    vp_word rows;       /* that were written, in all parts that it consists of */
} vp_saved;

struct vp_changes {
    /* What is looked at for each change lies in one line. */
    alignas(VP_LINE) vp_word maps; /* the cell's offset; 0: none */
    vp_word words;       /* of each map. Both go back with a slice */
    vp_word current;     /* 0 or 1: the map of the time since the last cut */
    vp_word counts[2];   /* the bits of each map, or more */
    vp_word generation;  /* from 1 on; it goes back with a slice */
    vp_word attempt;     /* the snapshot that the other map belongs to; 0: to none that could become a checkpoint */
    vp_saved saved, tried; /* by the last checkpoint; by the attempt */
};

static inline vp_word *vp_changes_map(const vp_writer *writer, const vp_changes *changes, uint64_t which)
{
    return (vp_word *)(writer->arena + vp_read(&changes->maps)) + which * vp_read(&changes->words);
}

/* Whether a row had changed at the last cut. */
static inline bool vp_changes_had(const vp_writer *writer, const vp_changes *changes, uint64_t number)
{
    uint64_t word = number / 64;
    return word < vp_read(&changes->words) &&
           vp_read(vp_changes_map(writer, changes, !vp_read(&changes->current)) + word) >> number % 64 & 1;
}

/* Asks memory ahead for the bits of a row that will be marked. */
static inline void vp_changes_fetch(const vp_writer *writer, const vp_changes *changes, uint64_t number)
{
    if (number / 64 < vp_read(&changes->words))
        __builtin_prefetch(vp_changes_map(writer, changes, vp_read(&changes->current)) + number / 64, 1);
}

/* Makes sure of bits for a row: 0, or VP_NO_ROOM, and nothing has changed. */
int vp_changes_grow(vp_writer *writer, vp_changes *changes, vp_heap *heap, uint64_t number);

/* Notes that a row is about to change: 0, or VP_NO_ROOM. */
static inline int vp_changes_mark(vp_writer *writer, vp_changes *changes, vp_heap *heap, uint64_t number)
{
    if (number / 64 >= vp_read(&changes->words) && vp_changes_grow(writer, changes, heap, number))
        return VP_NO_ROOM;
    uint64_t current = vp_read(&changes->current), bit = UINT64_C(1) << number % 64;
    vp_word *word = vp_changes_map(writer, changes, current) + number / 64;
    uint64_t before = vp_read(word);
    if (before & bit)
        return 0;
    /* Counted, then marked, then changed: whoever dies in between leaves one that was counted only. */
    atomic_store_explicit(&changes->counts[current], vp_read(&changes->counts[current]) + 1, memory_order_relaxed);
    VP_CRASH_POINT("changes: counted");
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(word, before | bit, memory_order_relaxed);
    VP_CRASH_POINT("changes: marked");
    atomic_signal_fence(memory_order_seq_cst);
    return 0;
}

/* Notes that rows have got other numbers: 0, or VP_NO_ROOM. */
int vp_changes_renumber(vp_writer *writer, vp_changes *changes);

/* Settles what became of the last attempt: what it was to write counts as changed, unless it has become
 * the checkpoint `since`. */
void vp_changes_settle(const vp_writer *writer, vp_changes *changes, uint64_t since);

/* How many rows there are to write at most, if only changes are written. */
uint64_t vp_changes_count(const vp_changes *changes);

/* Whether the last checkpoint has other numbers of rows, or nothing: then all are to be written. */
bool vp_changes_are_unknown(const vp_changes *changes);

/* Begins an attempt, of which an id is known, when the last one is settled. `rows` is how many will have been written
 * then, as in vp_saved. What the slice has changed so far belongs to it: it must not be taken back, unless the process
 * dies, and the attempt with it. */
void vp_changes_cut(vp_changes *changes, uint64_t attempt, uint64_t rows);

#endif
