/* What Python objects export through the Arrow C data interface. */
#ifndef VIPER_EXPORTING_H
#define VIPER_EXPORTING_H

#include "rows.h" /* first, as Python.h wants it */

#include "arrow.h"

typedef struct {
    PyObject *capsules; /* own the structs */
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
} Exported;

/* The structs of an array, to be closed; -1 with an error set, and nothing to close. */
int exported_open(Exported *self, PyObject *exporter);

void exported_close(Exported *self);

/* Whether the bit at an index of a bitmap is set; NULL: all are. */
static inline int bit_at(const uint8_t *bits, int64_t index)
{
    return bits == NULL || (bits[index / 8] >> index % 8 & 1);
}

#endif
