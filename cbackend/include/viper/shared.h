/* Shared tables: rows that the transactions of several tasks read and write.
 *
 * A row has a key, which is bytes, whether it is present, and a word for each column: an int64 or a double, whose form
 * the caller knows. Rows are entered by any process at any time, and stay at their places for good. One that is entered
 * is absent until a transaction, or vp_shared_put, makes it present. So a key that was looked up is a place from then on,
 * and evaluating transactions takes neither keys nor hashes. What a row holds changes only where vp_txgroup lets it.
 *
 * A table has room for so many keys, which is fixed. Memory that no row touches takes none.
 *
 * Set columns. The word of a set column is how many elements the row's set has. The elements are rows of a table of their
 * own, whose key is told by the caller, and whose one column is the generation of the row they belong to: an element is
 * in the set if it is present and that is the row's generation now. Deleting a row raises its generation.
 */
#ifndef VIPER_SHARED_H
#define VIPER_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#define VP_SHARED_COLUMNS 64
#define VP_SHARED_FULL (-1)
#define VP_SHARED_NONE (-2)

typedef struct vp_shared vp_shared;

/* Bytes of a region for a table; 0 where it cannot be. key_bytes: room for keys of more than eight bytes, all together. */
uint64_t vp_shared_size(uint64_t rows, uint32_t columns, uint64_t key_bytes);

/* Makes an empty table out of the zeroed region at an offset in an arena. defaults: the words of a row that is not
 * present, one for each column, for tables whose absent rows count as present with these; else NULL. */
vp_shared *vp_shared_format(void *arena, uint64_t offset, uint64_t rows, uint32_t columns, uint64_t key_bytes,
                            const int64_t *defaults);

/* The table at an offset in an arena. */
vp_shared *vp_shared_at(void *arena, uint64_t offset);

/* The number of the row of a key, from 0 on, which is entered if there is none; VP_SHARED_FULL without room for it. From
 * any process and thread. */
int64_t vp_shared_enter(vp_shared *table, uint64_t hash, const void *key, uint64_t length);

/* Likewise, but VP_SHARED_NONE if there is none. */
int64_t vp_shared_find(const vp_shared *table, uint64_t hash, const void *key, uint64_t length);

/* Below what the numbers of rows are, entered ones of no use included; and below what they will ever be, which is more
 * than the keys there is room for. */
uint64_t vp_shared_entered(const vp_shared *table);
uint64_t vp_shared_capacity(const vp_shared *table);

/* Where a row lies, in words from the arena's start: its header, then its key's word, then its columns. */
uint64_t vp_shared_word(const vp_shared *table, uint64_t row);

/* A row's key; its bytes stay where they are. NULL for a number without a row, whose process has died in time. */
const uint8_t *vp_shared_key(const vp_shared *table, uint64_t row, uint64_t *length);

bool vp_shared_is_present(const vp_shared *table, uint64_t row);
int64_t vp_shared_get(const vp_shared *table, uint64_t row, uint32_t column);
uint64_t vp_shared_generation(const vp_shared *table, uint64_t row);

/* Copies a table, as it is now, into the zeroed region of as many bytes at an offset in another arena, where nobody
 * evaluates meanwhile; what is entered meanwhile may be missing, and is absent. Takes as long as the rows that were
 * entered have bytes: a million of 128 bytes some 50 ms. */
vp_shared *vp_shared_copy(void *arena, uint64_t offset, const vp_shared *from);

/* Makes a row present with these words, where nobody evaluates: before a run, or by whoever restores it. */
void vp_shared_put(vp_shared *table, uint64_t row, const int64_t *words);

#endif
