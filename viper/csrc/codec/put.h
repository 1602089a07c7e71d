/* Where bytes are written, and single values as bytes. */
#ifndef VIPER_PUT_H
#define VIPER_PUT_H

#include "rows/rows.h" /* first, as Python.h wants it */

#include <string.h>

/* A bytes object that grows; all zeroes at first, but for what it begins with. */
typedef struct {
    const char *first; /* so many bytes, or NULL */
    size_t first_size;
    PyObject *bytes; /* NULL before the first room, and where memory has run out */
    char *data;
    size_t length, capacity;
} Buffer;

/* What functions here return: 1 where a value has no form here, -1 with an error set. */
enum { WRITTEN = 0, FOREIGN = 1, FAILED = -1 };

/* Takes memory for at least `size` more bytes; FAILED without. */
int bytes_grow(Buffer *buffer, size_t size);

/* The place of the next `size` bytes; NULL, with an error, without memory. */
static inline char *bytes_room(Buffer *buffer, size_t size)
{
    if (size > buffer->capacity - buffer->length && bytes_grow(buffer, size))
        return NULL;
    char *at = buffer->data + buffer->length;
    buffer->length += size;
    return at;
}

/* What was written, as bytes, None where a value has no form, or NULL with an error set. */
PyObject *bytes_end(Buffer *buffer, int result);

/* The number of rows and their arity, before the rows. */
static inline int put_head(Buffer *buffer, size_t rows, uint32_t arity)
{
    uint32_t head[2] = {(uint32_t)rows, arity};
    char *at = bytes_room(buffer, sizeof head);
    if (at == NULL)
        return FAILED;
    memcpy(at, head, sizeof head);
    return WRITTEN;
}

/* Writes a value with its tag, or the values of a tuple. */
int put_value(Buffer *buffer, PyObject *value, int depth);
int put_values(Buffer *buffer, PyObject *tuple, int depth);

/* The number that an exact int is; FOREIGN beyond 64 bits. */
static inline int int_of(PyObject *value, int64_t *number)
{
#if PY_VERSION_HEX >= 0x030C0000
    if (PyUnstable_Long_IsCompact((PyLongObject *)value)) {
        *number = PyUnstable_Long_CompactValue((PyLongObject *)value);
        return WRITTEN;
    }
#else
    Py_ssize_t digits = Py_SIZE(value);
    const digit *at = ((PyLongObject *)value)->ob_digit;
    if (digits >= -2 && digits <= 2) { /* a third of what the function takes */
        int64_t size = digits == 0 ? 0 : digits == 1 || digits == -1 ? at[0] : at[0] | (int64_t)at[1] << PyLong_SHIFT;
        *number = digits < 0 ? -size : size;
        return WRITTEN;
    }
#endif
    int overflow;
    *number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow ? FOREIGN : WRITTEN;
}

/* Writes rows of one arity, which is not 0, exact tuples, in columns, and their head. */
int put_columns(Buffer *buffer, PyObject *rows, uint32_t arity);

#endif
