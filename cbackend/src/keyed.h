/* How a table of keyed state lies in the arena.
 *
 * Rows lie in parts, each twice as large as the one before, so that they need not move when there are more. The index
 * has a place for each of the 2^bits values that the lowest bits of a hash's upper half can have; a row is at its own
 * or at the next free one. A place says the upper half and the row's number; so the index grows without a look at the rows.
 */
#ifndef VIPER_SRC_KEYED_H
#define VIPER_SRC_KEYED_H

#include "bytes.h"
#include "heap.h"
#include "viper/keyed.h"

/* The first part has 2^n rows, in a table within another one fewer. */
enum { VP_FIRST_ROW_BITS = 4, VP_FEW_ROW_BITS = 2, VP_ROW_PARTS = 23 };

/* Where the rows and the index are. Compaction puts others in their places. */
struct vp_keyed {
    uint32_t value_words, row_bits;
    vp_word index, index_bits; /* the index's offset, 0: none */
    vp_word used;              /* places of the index that are not free */
    vp_word rows, live;        /* numbers that were given to rows, and those of them that have a key */
    vp_word accesses;          /* beside the index, whose line a search has at hand; never goes back */
    uint64_t notes[2];         /* for whoever owns the table next, who reads them behind a commit; they do not go back */
    vp_word parts[VP_ROW_PARTS]; /* offsets; part n has 2^(row_bits + n) rows */
};

_Static_assert(sizeof(vp_keyed) <= 256, "a table within another one takes a cell of this size");

struct vp_row {
    vp_word tag; /* the hash's upper half; below it the row's number, and in the lowest bit whether it is alive */
    vp_bytes key;
    vp_word values[];
};

#define VP_ROW_ALIVE UINT64_C(1)

_Static_assert(VP_FIRST_ROW_BITS + VP_ROW_PARTS < 32, "numbers of rows have 31 bits of the tag");

static inline uint64_t vp_row_tag(uint64_t hash, uint64_t number)
{
    return (hash & ~(uint64_t)UINT32_MAX) | number << 1 | VP_ROW_ALIVE;
}

/* As vp_row_number. */
static inline uint64_t vp_number_of(const vp_row *row)
{
    return (uint32_t)vp_read(&row->tag) >> 1;
}

static inline bool vp_row_is_alive(const vp_row *row)
{
    return vp_read(&row->tag) & VP_ROW_ALIVE;
}

/* A place of the index: 0 where it is free. */
static inline uint64_t vp_place(uint64_t hash, uint64_t number)
{
    return (hash & ~(uint64_t)UINT32_MAX) | (number + 1);
}

/* A key of the table is asked for: counted for people, by the owner alone. Adding 1 to the value of a tuple's key takes
 * 157 ns with and without it. */
static inline void vp_keyed_note_access(vp_keyed *table)
{
    atomic_store_explicit(&table->accesses, vp_read(&table->accesses) + 1, memory_order_relaxed);
}

/* A row was there and is no more; the search goes on behind it. */
#define VP_PLACE_LEFT UINT64_C(0xffffffff)

/* Where many keys are looked for one after the other, memory is asked ahead for what the search for each will look at:
 * for the place of its hash, and when that has come, for the row. */
void vp_keyed_fetch_place(const vp_writer *writer, const vp_keyed *table, uint64_t hash);

/* Tells the number of the row; VP_NO_ROW where another place is the key's, or none. */
uint64_t vp_keyed_fetch_row(const vp_writer *writer, const vp_keyed *table, uint64_t hash);

/* Likewise for the row of a number, which is below vp_keyed_rows. */
void vp_keyed_fetch(const vp_writer *writer, const vp_keyed *table, uint64_t number);

#define VP_NO_ROW UINT64_MAX

#endif
