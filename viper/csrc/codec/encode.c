/* Writing rows as bytes; codec.h has their form. */
#include "rows/rows.h" /* first, as Python.h wants it */

#include <string.h>

#include "rows/addressed.h"
#include "codec.h"
#include "few.h"

typedef struct {
    char *data;
    size_t length, capacity;
} Buffer;

/* The place of the next `size` bytes; NULL without memory. */
static inline char *buffer_room(Buffer *buffer, size_t size)
{
    if (size > buffer->capacity - buffer->length) {
        size_t capacity = 2 * buffer->capacity + size;
        char *data = PyMem_Realloc(buffer->data, capacity);
        if (data == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        buffer->data = data;
        buffer->capacity = capacity;
    }
    char *at = buffer->data + buffer->length;
    buffer->length += size;
    return at;
}

/* What the functions below return: 1 where a value has no form here, -1 with an error set. */
enum { WRITTEN = 0, FOREIGN = 1, FAILED = -1 };

static inline int put(Buffer *buffer, uint8_t tag, const void *content, size_t size)
{
    char *at = buffer_room(buffer, 1 + size);
    if (at == NULL)
        return FAILED;
    *at = (char)tag;
    memcpy(at + 1, content, size);
    return WRITTEN;
}

static inline int put_sized(Buffer *buffer, uint8_t tag, const void *head, size_t head_size, const void *content,
                            size_t size)
{
    char *at = buffer_room(buffer, 1 + head_size + size);
    if (at == NULL)
        return FAILED;
    *at = (char)tag;
    memcpy(at + 1, head, head_size);
    vp_copy_few(at + 1 + head_size, content, size);
    return WRITTEN;
}

static int put_int(Buffer *buffer, PyObject *value)
{
    int overflow;
    int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow)
        return FOREIGN;
    if (number == (int8_t)number)
        return put(buffer, TAG_INT8, &(int8_t){(int8_t)number}, 1);
    if (number == (int32_t)number)
        return put(buffer, TAG_INT32, &(int32_t){(int32_t)number}, 4);
    return put(buffer, TAG_INT64, &number, 8);
}

static int put_text(Buffer *buffer, PyObject *value)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(value);
    if (PyUnicode_IS_COMPACT_ASCII(value) && length <= SHORT)
        return put_sized(buffer, TAG_ASCII, &(uint8_t){(uint8_t)length}, 1, PyUnicode_DATA(value), (size_t)length);
    char head[9] = {(char)PyUnicode_KIND(value)};
    memcpy(head + 1, &(uint64_t){(uint64_t)length}, 8);
    size_t size = (size_t)length * (size_t)PyUnicode_KIND(value);
    return put_sized(buffer, TAG_TEXT, head, sizeof head, PyUnicode_DATA(value), size);
}

static int put_values(Buffer *buffer, PyObject *tuple, int depth);

static int put_value(Buffer *buffer, PyObject *value, int depth)
{
    if (PyUnicode_CheckExact(value))
        return put_text(buffer, value);
    if (PyLong_CheckExact(value))
        return put_int(buffer, value);
    if (PyFloat_CheckExact(value))
        return put(buffer, TAG_FLOAT, &(double){PyFloat_AS_DOUBLE(value)}, sizeof(double));
    if (value == Py_None)
        return put(buffer, TAG_NONE, "", 0);
    if (PyBool_Check(value))
        return put(buffer, value == Py_True ? TAG_TRUE : TAG_FALSE, "", 0);
    if (PyBytes_CheckExact(value)) {
        uint64_t size = (uint64_t)PyBytes_GET_SIZE(value);
        return put_sized(buffer, TAG_BYTES, &size, 8, PyBytes_AS_STRING(value), (size_t)size);
    }
    if (PyTuple_CheckExact(value) && depth < DEEPEST && PyTuple_GET_SIZE(value) < VARIES) {
        uint32_t arity = (uint32_t)PyTuple_GET_SIZE(value);
        int result = put(buffer, TAG_TUPLE, &arity, 4);
        return result ? result : put_values(buffer, value, depth + 1);
    }
    return FOREIGN;
}

static int put_values(Buffer *buffer, PyObject *tuple, int depth)
{
    Py_ssize_t size = PyTuple_GET_SIZE(tuple);
    int result = WRITTEN;
    for (Py_ssize_t i = 0; i < size && result == WRITTEN; i++)
        result = put_value(buffer, PyTuple_GET_ITEM(tuple, i), depth);
    return result;
}

/* The arity that all rows have, or VARIES; -1 if one is no tuple. */
static int64_t common_arity(PyObject *rows)
{
    int64_t arity = PyList_GET_SIZE(rows) ? -1 : 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); i++) {
        PyObject *row = PyList_GET_ITEM(rows, i);
        if (!PyTuple_CheckExact(row) || PyTuple_GET_SIZE(row) >= VARIES)
            return -1;
        arity = arity == -1 || arity == PyTuple_GET_SIZE(row) ? PyTuple_GET_SIZE(row) : VARIES;
    }
    return arity;
}

/* The number of rows and their arity, before the rows. */
static int put_head(Buffer *buffer, PyObject *rows, int64_t arity)
{
    uint32_t head[2] = {(uint32_t)PyList_GET_SIZE(rows), (uint32_t)arity};
    char *at = buffer_room(buffer, sizeof head);
    if (at == NULL)
        return FAILED;
    memcpy(at, head, sizeof head);
    return WRITTEN;
}

static int put_row(Buffer *buffer, PyObject *row, int64_t arity)
{
    if (arity == VARIES) {
        char *at = buffer_room(buffer, 4);
        if (at == NULL)
            return FAILED;
        memcpy(at, &(uint32_t){(uint32_t)PyTuple_GET_SIZE(row)}, 4);
    }
    return put_values(buffer, row, 0);
}

static int put_rows(Buffer *buffer, PyObject *rows, int64_t arity)
{
    int result = put_head(buffer, rows, arity);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows) && result == WRITTEN; i++)
        result = put_row(buffer, PyList_GET_ITEM(rows, i), arity);
    return result;
}

/* A row behind its envelope. */
static int put_enclosed(Buffer *buffer, PyObject *row, int64_t arity, int shift)
{
    uint64_t mask;
    size_t before = buffer->length;
    if (mask_of_row(row, shift, &mask) || buffer_room(buffer, ENVELOPE) == NULL)
        return FAILED;
    int result = put_row(buffer, row, arity);
    size_t size = buffer->length - before - ENVELOPE;
    if (size > UINT32_MAX)
        return FOREIGN;
    memcpy(buffer->data + before, &mask, 8);
    memcpy(buffer->data + before + 8, &(uint32_t){(uint32_t)size}, 4);
    return result;
}

static int put_addressed(Buffer *buffer, PyObject *rows, int64_t arity, int shift)
{
    int result = put_head(buffer, rows, arity);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows) && result == WRITTEN; i++)
        result = put_enclosed(buffer, PyList_GET_ITEM(rows, i), arity, shift);
    return result;
}

static int check_rows(PyObject *rows)
{
    if (PyList_CheckExact(rows) && PyList_GET_SIZE(rows) < VARIES)
        return 0;
    PyErr_SetString(PyExc_TypeError, "encode_rows takes a list of rows");
    return -1;
}

/* What was written, as bytes, or None where a value has no form. */
static PyObject *finished(Buffer *buffer, int result)
{
    PyObject *made = NULL;
    if (result == WRITTEN)
        made = PyBytes_FromStringAndSize(buffer->data, (Py_ssize_t)buffer->length);
    else if (result == FOREIGN)
        made = Py_NewRef(Py_None);
    PyMem_Free(buffer->data);
    return made;
}

PyObject *rows_encode(PyObject *module, PyObject *rows)
{
    (void)module;
    if (check_rows(rows))
        return NULL;
    int64_t arity = common_arity(rows);
    if (arity < 0)
        Py_RETURN_NONE;
    Buffer buffer = {0};
    return finished(&buffer, put_rows(&buffer, rows, arity));
}

PyObject *rows_encode_addressed(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows;
    int shift;
    if (!PyArg_ParseTuple(args, "Oi", &rows, &shift) || check_rows(rows))
        return NULL;
    if (shift < 0 || shift > 31) {
        PyErr_Format(PyExc_ValueError, "a shift of %d, expected 0 to 31", shift);
        return NULL;
    }
    int64_t arity = common_arity(rows);
    if (arity < 0)
        Py_RETURN_NONE;
    Buffer buffer = {0};
    return finished(&buffer, put_addressed(&buffer, rows, arity, shift));
}
