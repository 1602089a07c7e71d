/* Writing rows as bytes; codec.h has their form. */
#include "put.h"

#include <string.h>

#include "rows/addressed.h"
#include "codec.h"

/* The arity that all rows have, or VARIES, also where it is 0, so that bytes bound the rows; -1 if one is no tuple. */
static int64_t common_arity(PyObject *rows)
{
    int64_t arity = -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); i++) {
        PyObject *row = PyList_GET_ITEM(rows, i);
        if (!PyTuple_CheckExact(row) || PyTuple_GET_SIZE(row) >= VARIES)
            return -1;
        arity = arity == -1 || arity == PyTuple_GET_SIZE(row) ? PyTuple_GET_SIZE(row) : VARIES;
    }
    return arity > 0 ? arity : VARIES;
}

static int put_row(Buffer *buffer, PyObject *row, int64_t arity)
{
    if (arity == VARIES) {
        char *at = bytes_room(buffer, 4);
        if (at == NULL)
            return FAILED;
        memcpy(at, &(uint32_t){(uint32_t)PyTuple_GET_SIZE(row)}, 4);
    }
    return put_values(buffer, row, 0);
}

static int put_rows(Buffer *buffer, PyObject *rows, int64_t arity)
{
    if (arity != VARIES)
        return put_columns(buffer, rows, (uint32_t)arity);
    int result = put_head(buffer, (size_t)PyList_GET_SIZE(rows), VARIES);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows) && result == WRITTEN; i++)
        result = put_row(buffer, PyList_GET_ITEM(rows, i), VARIES);
    return result;
}

/* A row behind its envelope. */
static int put_enclosed(Buffer *buffer, PyObject *row, int64_t arity, int shift)
{
    uint64_t mask;
    size_t before = buffer->length;
    if (mask_of_row(row, shift, &mask) || bytes_room(buffer, ENVELOPE) == NULL)
        return FAILED;
    int result = put_row(buffer, row, arity);
    size_t size = buffer->length - before - ENVELOPE;
    if (size > UINT32_MAX)
        return FOREIGN;
    if (result == FAILED)
        return FAILED;
    memcpy(buffer->data + before, &mask, 8);
    memcpy(buffer->data + before + 8, &(uint32_t){(uint32_t)size}, 4);
    return result;
}

static int put_addressed(Buffer *buffer, PyObject *rows, int64_t arity, int shift)
{
    int result = put_head(buffer, (size_t)PyList_GET_SIZE(rows), (uint32_t)arity);
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

PyObject *rows_encode(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count < 1 || count > 2 || (count == 2 && !PyBytes_Check(args[1]))) {
        PyErr_SetString(PyExc_TypeError, "encode_rows takes rows and bytes before them");
        return NULL;
    }
    PyObject *rows = args[0];
    if (check_rows(rows))
        return NULL;
    int64_t arity = common_arity(rows);
    if (arity < 0)
        Py_RETURN_NONE;
    Buffer buffer = {0};
    if (count == 2) {
        buffer.first = PyBytes_AS_STRING(args[1]);
        buffer.first_size = (size_t)PyBytes_GET_SIZE(args[1]);
    }
    return bytes_end(&buffer, put_rows(&buffer, rows, arity));
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
    return bytes_end(&buffer, put_addressed(&buffer, rows, arity, shift));
}
