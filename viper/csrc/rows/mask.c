/* Masks as bits of their own, which lie side by side from the first one on and are 0 where the mask is null. */
#include "exporting.h"

#include <string.h>

static void write_bits(const struct ArrowArray *mask, uint64_t *words)
{
    const uint8_t *validity = mask->buffers[0], *values = mask->buffers[1];
    for (int64_t first = 0; first < mask->length; first += 64) {
        int count = mask->length - first < 64 ? (int)(mask->length - first) : 64;
        uint64_t found = bits_from(values, mask->offset + first, count);
        found &= bits_from(validity, mask->offset + first, count);
        words[first / 64] = count < 64 ? found & ((UINT64_C(1) << count) - 1) : found;
    }
}

PyObject *rows_bits_of_mask(PyObject *module, PyObject *mask)
{
    (void)module;
    Exported exported;
    PyObject *made = NULL;
    if (exported_open(&exported, mask))
        return NULL;
    const struct ArrowArray *array = exported.array;
    if (strcmp(exported.schema->format, "b") != 0 || array->n_buffers != 2)
        PyErr_Format(PyExc_TypeError, "a mask of Arrow type %s: expected b, for bools", exported.schema->format);
    else
        made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(array->length + 63) / 64 * (Py_ssize_t)sizeof(uint64_t));
    if (made != NULL)
        write_bits(array, (uint64_t *)(void *)PyBytes_AS_STRING(made));
    exported_close(&exported);
    return made;
}

PyObject *rows_ends_of_bits(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer bits;
    Py_ssize_t count;
    PyObject *made = NULL;
    if (!PyArg_ParseTuple(args, "y*n", &bits, &count))
        return NULL;
    if (count < 0 || count > UINT32_MAX || (count + 63) / 64 * 8 > bits.len)
        PyErr_Format(PyExc_ValueError, "%zd bytes of bits for %zd inputs", bits.len, count);
    else
        made = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    uint32_t *ends = made == NULL ? NULL : (uint32_t *)(void *)PyBytes_AS_STRING(made), kept = 0;
    const uint64_t *words = bits.buf;
    for (Py_ssize_t i = 0; ends != NULL && i < count; i++)
        ends[i] = kept += words[i / 64] >> i % 64 & 1;
    PyBuffer_Release(&bits);
    return made;
}
