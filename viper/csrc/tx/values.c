/* Numbers as the words of columns, and back. */
#include "tx.h"

/* -- plain numbers */

static const char *native_format(const Py_buffer *view)
{
    const char *format = view->format == NULL ? "B" : view->format;
    if (*format == '@' || *format == '=' || (*format == '<' && PY_LITTLE_ENDIAN))
        format++;
    return format[0] != '\0' && format[1] == '\0' ? format : "";
}

#define COPY(type, made)                                          \
    for (Py_ssize_t i = 0; i < count; i++, at += stride) {        \
        type value;                                               \
        memcpy(&value, at, sizeof value);                         \
        words[i] = made;                                          \
    }                                                             \
    break

char tx_plain_numbers(const Py_buffer *view, int64_t *words, int *are_unsigned)
{
    const char *at = view->buf;
    Py_ssize_t count = view->ndim ? view->shape[0] : 1, stride = view->ndim ? view->strides[0] : 0;
    char format = *native_format(view);
    *are_unsigned = format == 'L' || format == 'Q' || format == 'N';
    switch (format) {
    case '?':
        COPY(unsigned char, value != 0);
    case 'b':
        COPY(signed char, value);
    case 'B':
        COPY(unsigned char, value);
    case 'h':
        COPY(short, value);
    case 'H':
        COPY(unsigned short, value);
    case 'i':
        COPY(int, value);
    case 'I':
        COPY(unsigned int, value);
    case 'l':
    case 'q':
    case 'n':
    case 'L':
    case 'Q':
    case 'N':
        COPY(int64_t, value);
    case 'f':
        COPY(float, word_of_double((double)value));
    case 'd':
        COPY(double, word_of_double(value));
    default:
        return 0;
    }
    return format == '?' ? TX_BOOL : format == 'f' || format == 'd' ? TX_FLOAT : TX_INT;
}

/* A scalar of numpy's, which is no number of Python's: a bool, or a float of 32 bits. */
static char plain_scalar(PyObject *value, int64_t *word)
{
    Py_buffer view;
    int are_unsigned;
    if (!PyObject_CheckBuffer(value))
        return 0;
    if (PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_STRIDES)) {
        PyErr_Clear();
        return 0;
    }
    char kind = view.ndim == 0 ? tx_plain_numbers(&view, word, &are_unsigned) : 0;
    PyBuffer_Release(&view);
    return kind;
}

int tx_plain(PyObject *value, int64_t *word)
{
    int overflow = 0;
    if (PyBool_Check(value)) {
        *word = value == Py_True;
        return TX_BOOL;
    }
    if (PyFloat_Check(value)) {
        *word = word_of_double(PyFloat_AS_DOUBLE(value));
        return TX_FLOAT;
    }
    if (tx_is_handle(value))
        return 0;
    if (!PyIndex_Check(value))
        return plain_scalar(value, word);
    PyObject *index = PyNumber_Index(value);
    if (index == NULL)
        return -1;
    *word = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    return overflow ? TX_BEYOND : TX_INT;
}

/* -- columns */

PyObject *tx_column_name(const SharedRows *table, int column)
{
    return PyUnicode_FromFormat("%U.%U", table->name, PyTuple_GET_ITEM(table->names, column));
}

PyObject *tx_kind_name(char kind)
{
    return PyUnicode_FromString(kind == TX_INT ? "int64" : kind == TX_FLOAT ? "float64" : kind == TX_TEXT ? "text" : "set");
}

static int refuse_value(const SharedRows *table, int column, PyObject *value)
{
    PyObject *name = tx_column_name(table, column), *kind = tx_kind_name(table->kinds[column]);
    if (name != NULL && kind != NULL)
        PyErr_Format(PyExc_TypeError, "column %U is %U; found %.100R of type %.100s", name, kind, value,
                     Py_TYPE(value)->tp_name);
    Py_XDECREF(name);
    Py_XDECREF(kind);
    return -1;
}

static int refuse_beyond(const SharedRows *table, int column, PyObject *value)
{
    PyObject *name = tx_column_name(table, column), *kind = tx_kind_name(table->kinds[column]);
    if (name != NULL && kind != NULL)
        PyErr_Format(PyExc_OverflowError, "column %U is %U; found %.100R, which does not fit into 64 bits", name, kind, value);
    Py_XDECREF(name);
    Py_XDECREF(kind);
    return -1;
}

int tx_word(const SharedRows *table, int column, PyObject *value, int64_t *word)
{
    int kind = tx_plain(value, word);
    if (kind < 0)
        return -1;
    if (kind == TX_BEYOND)
        return refuse_beyond(table, column, value);
    if (kind == 0 || (kind == TX_FLOAT && table->kinds[column] != TX_FLOAT))
        return refuse_value(table, column, value);
    if (kind != TX_FLOAT && table->kinds[column] == TX_FLOAT)
        *word = word_of_double((double)*word);
    return 0;
}

PyObject *tx_number(char kind, int64_t word)
{
    if (kind == TX_FLOAT)
        return PyFloat_FromDouble(double_of_word(word));
    return kind == TX_BOOL ? PyBool_FromLong(word != 0) : PyLong_FromLongLong(word);
}
