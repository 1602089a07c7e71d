/* Keyed state: what one key group of a component remembers of its keys, in rows that all processes can map.
 *
 * A row has a key, which is bytes, and as many words of values as its table says. What a word means is the caller's:
 * a number, or with the next word a vp_bytes. Rows stay in the order in which their keys came. A row that is
 * entered anew has words of 0.
 *
 * Hashes are of 64 bits. The lowest ones choose the key group, the upper 32 the place in the table.
 */
#ifndef VIPER_KEYED_H
#define VIPER_KEYED_H

#include "viper/heap.h"

/* The most words of values that a row may have. */
#define VP_KEYED_WORDS 1024
/* The most bytes that lie in the two words of a vp_bytes themselves. */
#define VP_BYTES_INLINE 15

typedef struct vp_keyed vp_keyed;
typedef struct vp_bytes vp_bytes; /* two words that tell bytes of any length; words of 0 are none */
typedef struct vp_row vp_row;

/* Bytes of a table's fixed part. */
uint64_t vp_keyed_size(void);

/* Makes an empty table out of the zeroed region at an offset in an arena; NULL if rows cannot have so many words. */
vp_keyed *vp_keyed_format(void *arena, uint64_t offset, uint32_t value_words);

/* The offset of a new table in a cell of the heap, for few rows at first; 0 if there is no room. It goes back with the
 * slice, as all that is taken does. */
uint64_t vp_keyed_new(vp_writer *writer, vp_heap *heap, uint32_t value_words);

/* Frees such a table with its rows: 0, or VP_NO_ROOM. Its values' bytes are the caller's to free before. */
int vp_keyed_free(vp_writer *writer, vp_keyed *table, vp_heap *heap);

/* The row of a key; NULL if there is none. */
vp_row *vp_keyed_find(const vp_writer *writer, const vp_keyed *table, uint64_t hash, const void *key, uint64_t length);

/* The row of a key, which is entered if there is none; NULL if there is no room. Rows that were found before may lie
 * elsewhere then, if `moved` is set. */
vp_row *vp_keyed_enter(vp_writer *writer, vp_keyed *table, vp_heap *heap, uint64_t hash, const void *key,
                       uint64_t length, bool *moved);

/* Takes a row out: 0, or VP_NO_ROOM. Its values' bytes are the caller's to free before. */
int vp_keyed_drop(vp_writer *writer, vp_keyed *table, vp_heap *heap, vp_row *row);

/* The first row in order whose number is not below *number, which becomes its own; NULL if there is none. */
vp_row *vp_keyed_next(const vp_writer *writer, const vp_keyed *table, uint64_t *number);

/* How many rows there are. */
uint64_t vp_keyed_count(const vp_keyed *table);

/* How often a key was asked for, whether or not it was there: see vp_keyed_note_access. */
uint64_t vp_keyed_accesses(const vp_keyed *table);

/* Below what the numbers of its rows are, those of rows that have left included. */
uint64_t vp_keyed_rows(const vp_keyed *table);

/* The row of a number below that, which may have left. */
vp_row *vp_keyed_row(const vp_writer *writer, const vp_keyed *table, uint64_t number);

/* Whether rows get other numbers, and other places, if one more is entered now. */
bool vp_keyed_would_move(const vp_keyed *table);

/* A row's key; as vp_bytes_get. */
const uint8_t *vp_row_key(const vp_writer *writer, const vp_row *row, uint64_t *length);

/* The upper half of the hash with which its key was entered; the lower bits are 0. */
uint64_t vp_row_hash(const vp_row *row);

/* Its number: a row has a larger one than those that came before it, and keeps it until rows move. */
uint64_t vp_row_number(const vp_row *row);

/* A row's words, to be written by vp_writer_write and vp_bytes_set only. */
uint64_t *vp_row_values(vp_row *row);

/* Its bytes, which stay where they are until they are set, or the row moves. */
const uint8_t *vp_bytes_get(const vp_writer *writer, const vp_bytes *bytes, uint64_t *length);

/* Sets them, which may be none: 0, or VP_NO_ROOM. */
int vp_bytes_set(vp_writer *writer, vp_heap *heap, vp_bytes *bytes, const void *data, uint64_t length);

/* Appends to them: 0, or VP_NO_ROOM. They move only when their cell is full. */
int vp_bytes_append(vp_writer *writer, vp_heap *heap, vp_bytes *bytes, const void *data, uint64_t length);

#endif
