/* A mask as the ends of what it leaves: for each row how many are kept up to it. */
#include "exporting.h"

#include <string.h>

/* Eight bits of a bitmap from any bit on, of which only `count` are looked for. */
static inline unsigned bits_from(const uint8_t *bits, int64_t first, int count)
{
    if (bits == NULL)
        return 0xFF;
    unsigned shift = (unsigned)(first % 8), found = (unsigned)bits[first / 8] >> shift;
    if (shift + (unsigned)count > 8) /* or the byte behind the last one would be read */
        found |= (unsigned)bits[first / 8 + 1] << (8 - shift);
    return found;
}

/* Eight rows at a time, as a loop over single bits takes three times as long. */
static void write_ends(const struct ArrowArray *mask, uint32_t *ends)
{
    const uint8_t *validity = mask->buffers[0], *values = mask->buffers[1];
    uint32_t kept = 0;
    for (int64_t first = 0; first < mask->length; first += 8) {
        int count = mask->length - first < 8 ? (int)(mask->length - first) : 8;
        unsigned bits = bits_from(values, mask->offset + first, count);
        bits &= bits_from(validity, mask->offset + first, count);
        for (int i = 0; i < count; i++)
            ends[first + i] = kept += bits >> i & 1;
    }
}

PyObject *rows_ends_of_mask(PyObject *module, PyObject *mask)
{
    (void)module;
    Exported exported;
    PyObject *made = NULL;
    if (exported_open(&exported, mask))
        return NULL;
    const struct ArrowArray *array = exported.array;
    if (strcmp(exported.schema->format, "b") != 0 || array->n_buffers != 2)
        PyErr_Format(PyExc_TypeError, "a mask of Arrow type %s: expected b, for bools", exported.schema->format);
    else if (array->length > UINT32_MAX)
        PyErr_Format(PyExc_OverflowError, "a mask of %lld rows", (long long)array->length);
    else
        made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)array->length * (Py_ssize_t)sizeof(uint32_t));
    if (made != NULL)
        write_ends(array, (uint32_t *)(void *)PyBytes_AS_STRING(made));
    exported_close(&exported);
    return made;
}
