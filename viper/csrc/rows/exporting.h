/* What Python objects export through the Arrow C data interface. */
#ifndef VIPER_EXPORTING_H
#define VIPER_EXPORTING_H

#include "rows.h" /* first, as Python.h wants it */

#include "arrow.h"

#include <string.h>

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

/* Up to 64 bits of a bitmap from any bit on; the byte behind the last one is not read. */
static inline uint64_t bits_from(const uint8_t *bits, int64_t first, int count)
{
    if (bits == NULL)
        return UINT64_MAX;
    int shift = (int)(first % 8), bytes = (shift + count + 7) / 8;
    uint64_t found = 0;
    memcpy(&found, bits + first / 8, (size_t)(bytes < 8 ? bytes : 8));
    found >>= shift;
    return bytes > 8 ? found | (uint64_t)bits[first / 8 + 8] << (64 - shift) : found;
}

#endif
