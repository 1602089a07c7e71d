/* Values in the form that a typed stream carries: what C can tell at once. */
#include "rows.h"

enum { NULLABLE = 0x80, BOOL = 1, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT64, TEXT, BYTES };

static int fits_signed(PyObject *value, int bits)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    long long most = (long long)((1ULL << (bits - 1)) - 1);
    return !overflow && number <= most && number >= -most - 1;
}

static int fits_unsigned(PyObject *value, int bits)
{
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) {
        PyErr_Clear(); /* negative, or of more than 64 bits */
        return 0;
    }
    return bits == 64 || number >> bits == 0;
}

static int fits_integer(PyObject *value, int code)
{
    if (!PyLong_CheckExact(value))
        return 0;
    return code <= INT64 ? fits_signed(value, 8 << (code - INT8)) : fits_unsigned(value, 8 << (code - UINT8));
}

/* UTF-8 carries all texts but those with surrogates, which need two bytes a character or more. */
static int fits_text(PyObject *value)
{
    if (!PyUnicode_CheckExact(value))
        return 0;
    int kind = PyUnicode_KIND(value);
    for (Py_ssize_t i = 0; kind > PyUnicode_1BYTE_KIND && i < PyUnicode_GET_LENGTH(value); i++)
        if (Py_UNICODE_IS_SURROGATE(PyUnicode_READ(kind, PyUnicode_DATA(value), i)))
            return 0;
    return 1;
}

static int fits(PyObject *value, uint8_t code)
{
    if (value == Py_None)
        return code & NULLABLE;
    code &= (uint8_t)~NULLABLE;
    switch (code) {
    case 0:
        return 0;
    case BOOL:
        return PyBool_Check(value);
    case FLOAT64:
        return PyFloat_CheckExact(value);
    case TEXT:
        return fits_text(value);
    case BYTES:
        return PyBytes_CheckExact(value);
    default:
        return fits_integer(value, code);
    }
}

PyObject *rows_fitting(PyObject *row, PyObject *codes)
{
    if (row == NULL || codes == NULL)
        return row;
    const uint8_t *code = (const uint8_t *)PyBytes_AS_STRING(codes);
    int all = PyTuple_GET_SIZE(row) == PyBytes_GET_SIZE(codes);
    for (Py_ssize_t i = 0; all && i < PyTuple_GET_SIZE(row); i++)
        all = fits(PyTuple_GET_ITEM(row, i), code[i]);
    if (!all)
        Py_CLEAR(row);
    return row;
}
