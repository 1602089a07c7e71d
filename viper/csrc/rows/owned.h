/* Record batches that C makes: all their columns in one piece of memory, which Arrow frees when nobody refers to it. */
#ifndef VIPER_OWNED_H
#define VIPER_OWNED_H

#include "exporting.h"

typedef struct Owned Owned;

/* Bytes of a value of a fixed width, by the format of its type; 0 for any other. */
size_t owned_width(const struct ArrowSchema *schema);

/* The bytes that a part of so many bytes takes. */
size_t owned_rounded(size_t bytes);

/* Memory for so many columns, the parts of which take so many bytes in all; NULL where there is none. */
Owned *owned_new(size_t columns, size_t bytes);

/* The next part of the memory, of so many bytes. */
void *owned_part(Owned *owned, size_t bytes);

/* Adds a column without nulls, but for those that its first buffer tells of; three buffers at most. */
void owned_add(Owned *owned, int64_t rows, const void *const *buffers, int count);

/* Hands the memory on as a batch of all columns that were added. */
void owned_export(Owned *owned, int64_t rows, struct ArrowArray *made);

/* The answer of a function of Python's that takes the address of a batch, which is freed if it does not. */
PyObject *owned_import(struct ArrowArray *made, PyObject *take);

#endif
