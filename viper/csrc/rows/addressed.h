/* Addressed rows: those that say which key groups they concern.
 *
 * Their last three values are their address: the key groups in ascending order, as a tuple of ints, and two values more that C
 * does not look at. A reader that has some of the groups skips the rows that concern none of them.
 *
 * Nanoseconds a row of two texts: 158 to decode it, 2 to skip it there by its mask, 5 to tell in the same process whether it
 * concerns a reader, 1 for an inbox to pass over it; encoding it takes 27 instead of 21. */
#ifndef VIPER_ADDRESSED_H
#define VIPER_ADDRESSED_H

#include "rows.h"

#include <stdint.h>

enum { ADDRESS_VALUES = 3 };

/* Finds the groups of a row as the bits of a mask, which are `group >> shift`; -1 with an error set. */
int mask_of_row(PyObject *row, int shift, uint64_t *mask);

/* encode_addressed(rows, shift) -> bytes or None, as Python calls it. */
PyObject *rows_encode_addressed(PyObject *module, PyObject *args);

/* own_rows(rows, first, count, start, stop) -> list, as Python calls it. */
PyObject *rows_own(PyObject *module, PyObject *args);

#endif
