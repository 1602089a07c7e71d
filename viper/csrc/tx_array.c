/* What a block of a batch is given for each row: numbers, keys and elements, in arrays (buffers) and lists. */
#include "tx_record.h"

static int is_array(PyObject *value)
{
    Py_buffer view;
    if (!PyObject_CheckBuffer(value) || PyBytes_Check(value) || PyByteArray_Check(value))
        return 0;
    if (PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_STRIDES)) {
        PyErr_Clear();
        return 0;
    }
    int is_one = view.ndim == 1; /* numpy's scalars are buffers, too */
    PyBuffer_Release(&view);
    return is_one;
}

int tx_is_wide(const Transaction *self, PyObject *value)
{
    return self->block != NULL && (PyList_Check(value) || is_array(value));
}

int tx_is_wide_key(const Transaction *self, const SharedRows *table, PyObject *key)
{
    if (table->is_single || PyList_Check(key))
        return tx_is_wide(self, key);
    for (Py_ssize_t i = 0; PyTuple_Check(key) && i < PyTuple_GET_SIZE(key); i++)
        if (tx_is_wide(self, PyTuple_GET_ITEM(key, i)))
            return 1;
    return 0;
}

void *tx_array_new(Transaction *self, size_t bytes)
{
    Block *block = self->block;
    if (block->array_count == block->array_room) {
        uint32_t room = block->array_room ? 2 * block->array_room : 16;
        void **arrays = PyMem_Realloc(block->arrays, room * sizeof *arrays);
        if (arrays == NULL)
            return PyErr_NoMemory();
        block->arrays = arrays;
        block->array_room = room;
    }
    void *array = PyMem_Malloc(bytes ? bytes : 1);
    if (array == NULL)
        return PyErr_NoMemory();
    return block->arrays[block->array_count++] = array;
}

int tx_patch(Transaction *self, int is_row, const void *values)
{
    Block *block = self->block;
    if (values == NULL)
        return 0;
    if (block->patch_count == block->patch_room) {
        uint32_t room = block->patch_room ? 2 * block->patch_room : 16;
        Patch *patches = PyMem_Realloc(block->patches, room * sizeof *patches);
        if (patches == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        block->patches = patches;
        block->patch_room = room;
    }
    block->patches[block->patch_count++] = (Patch){self->count - 1, is_row, values};
    return 0;
}

static int check_length(Py_ssize_t found, uint32_t expected, const char *what)
{
    if (found == (Py_ssize_t)expected)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s is given for %zd rows, and the block is for %u", what, found, expected);
    return -1;
}

/* -- numbers */

static const char *native_format(const Py_buffer *view)
{
    const char *format = view->format == NULL ? "B" : view->format;
    if (*format == '@' || *format == '=' || (*format == '<' && PY_LITTLE_ENDIAN))
        format++;
    return format[0] != '\0' && format[1] == '\0' ? format : "";
}

#define COPY(type, made)                                                      \
    for (Py_ssize_t i = 0; i < view->shape[0]; i++, at += view->strides[0]) { \
        type value;                                                           \
        memcpy(&value, at, sizeof value);                                     \
        into[i] = made;                                                       \
    }                                                                         \
    break

/* The numbers of a buffer, and their kind: 0 if they are none, without an error. */
static char copy_numbers(const Py_buffer *view, int64_t *into)
{
    const char *at = view->buf;
    char format = *native_format(view);
    if (format == 'n')
        format = 'q';
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

static char numbers_of_buffer(PyObject *values, uint32_t count, int64_t *into, const char *what)
{
    Py_buffer view;
    if (PyObject_GetBuffer(values, &view, PyBUF_FORMAT | PyBUF_STRIDES))
        return 0;
    char kind = 0;
    if (check_length(view.shape[0], count, what) == 0) {
        kind = copy_numbers(&view, into);
        if (kind == 0)
            PyErr_Format(PyExc_TypeError, "%s is an array of format %.20s; expected ints of 64 bits or less, signed if they have 64, "
                         "floats or bools", what, view.format == NULL ? "B" : view.format);
    }
    PyBuffer_Release(&view);
    return kind;
}

/* What a list of numbers is of: bools, ints, or floats where one is. */
static char kind_of_list(PyObject *values)
{
    Py_ssize_t bools = 0, count = PyList_GET_SIZE(values);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyFloat_Check(PyList_GET_ITEM(values, i)))
            return TX_FLOAT;
        bools += PyBool_Check(PyList_GET_ITEM(values, i));
    }
    return bools == count ? TX_BOOL : TX_INT;
}

static char numbers_of_list(PyObject *values, uint32_t count, int64_t *into, const char *what)
{
    char kind = kind_of_list(values);
    if (check_length(PyList_GET_SIZE(values), count, what))
        return 0;
    for (uint32_t i = 0; i < count && i < PyList_GET_SIZE(values); i++) {
        PyObject *value = PyList_GET_ITEM(values, i);
        if (kind == TX_FLOAT)
            into[i] = word_of_double(PyFloat_AsDouble(value));
        else if (PyBool_Check(value))
            into[i] = value == Py_True;
        else if (tx_int64(value, &into[i]))
            return 0;
        if (PyErr_Occurred())
            return 0;
    }
    return kind;
}

static char numbers_of(PyObject *values, uint32_t count, int64_t *into, const char *what)
{
    return PyList_Check(values) ? numbers_of_list(values, count, into, what) : numbers_of_buffer(values, count, into, what);
}

int tx_wide_operand(Transaction *self, PyObject *values, Operand *operand, const char *what)
{
    int64_t *numbers = tx_array_new(self, self->block->rows * sizeof *numbers);
    if (numbers == NULL)
        return -1;
    char kind = numbers_of(values, self->block->rows, numbers, what);
    *operand = (Operand){0, kind, 0, numbers};
    return kind ? 0 : -1;
}

/* -- keys */

static int rows_of_numbers(Transaction *self, Recorder *recorder, PyObject *keys, const Target *target, uint32_t *rows)
{
    uint32_t count = self->block->rows;
    int64_t *numbers = PyMem_Malloc(count * sizeof *numbers + 1);
    if (numbers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    char kind = numbers_of(keys, count, numbers, "the key");
    int failed = kind == 0;
    if (kind == TX_INT || (kind && count == 0))
        failed = tx_rows_of_numbers(recorder, target, numbers, count, rows);
    else if (kind)
        failed = (PyErr_Format(PyExc_TypeError, "keys of table %U are int64; found an array of other numbers", target->table->name), 1);
    PyMem_Free(numbers);
    return failed ? -1 : 0;
}

static int rows_of_sequence(Transaction *self, Recorder *recorder, PyObject *keys, const Target *target, uint32_t *rows)
{
    PyObject *list = PySequence_List(keys); /* of its own, as what makes bytes of keys may run code */
    int failed = list == NULL || check_length(PyList_GET_SIZE(list), self->block->rows, "the key");
    for (uint32_t i = 0; !failed && i < self->block->rows; i++) {
        int64_t row = tx_row(target->table, PyList_GET_ITEM(list, i), &recorder->scratch, recorder->state_full);
        rows[i] = (uint32_t)row;
        failed = row < 0;
    }
    Py_XDECREF(list);
    return failed ? -1 : 0;
}

/* The tuples of parts, of which some are one for each row. */
static PyObject *zipped(Transaction *self, PyObject *parts)
{
    PyObject *keys = PyList_New(self->block->rows), *columns = PyTuple_New(PyTuple_GET_SIZE(parts));
    for (Py_ssize_t i = 0; columns != NULL && i < PyTuple_GET_SIZE(parts); i++) {
        PyObject *part = PyTuple_GET_ITEM(parts, i);
        PyObject *column = tx_is_wide(self, part) ? PySequence_List(part) : Py_NewRef(part);
        if (column == NULL || (column != part && check_length(PyList_GET_SIZE(column), self->block->rows, "a part of the key")))
            Py_CLEAR(columns);
        else
            PyTuple_SET_ITEM(columns, i, Py_NewRef(column));
        Py_XDECREF(column);
    }
    for (uint32_t row = 0; keys != NULL && columns != NULL && row < self->block->rows; row++) {
        PyObject *key = PyTuple_New(PyTuple_GET_SIZE(parts));
        for (Py_ssize_t i = 0; key != NULL && i < PyTuple_GET_SIZE(parts); i++) {
            PyObject *column = PyTuple_GET_ITEM(columns, i);
            int is_wide = column != PyTuple_GET_ITEM(parts, i) || PyList_Check(column);
            PyTuple_SET_ITEM(key, i, Py_NewRef(is_wide ? PyList_GET_ITEM(column, row) : column));
        }
        if (key == NULL)
            Py_CLEAR(keys);
        else
            PyList_SET_ITEM(keys, row, key);
    }
    if (columns == NULL)
        Py_CLEAR(keys);
    Py_XDECREF(columns);
    return keys;
}

int tx_wide_rows(Transaction *self, Recorder *recorder, PyObject *keys, Target *target)
{
    const SharedRows *table = target->table;
    uint32_t *rows = tx_array_new(self, self->block->rows * sizeof *rows);
    if (rows == NULL)
        return -1;
    target->row = 0;
    target->rows = rows;
    if (table->is_single && table->parts_kinds[0] == TX_INT)
        return rows_of_numbers(self, recorder, keys, target, rows);
    PyObject *all = table->is_single || PyList_Check(keys) ? Py_NewRef(keys) : zipped(self, keys);
    int failed = all == NULL || rows_of_sequence(self, recorder, all, target, rows);
    Py_XDECREF(all);
    return failed ? -1 : 0;
}

/* -- elements */

int tx_wide_elements(Transaction *self, Recorder *recorder, PyObject *elements, const Target *target, Operand *operand)
{
    uint32_t count = self->block->rows;
    int is_wide = tx_is_wide(self, elements);
    int64_t *numbers = tx_array_new(self, count * sizeof *numbers);
    PyObject *list = numbers == NULL || !is_wide ? NULL : PySequence_List(elements);
    int failed = numbers == NULL || (is_wide && (list == NULL || check_length(PyList_GET_SIZE(list), count, "the element")));
    for (uint32_t i = 0; !failed && i < count; i++) {
        int64_t row = target->rows == NULL ? target->row : target->rows[i];
        PyObject *element = is_wide ? PyList_GET_ITEM(list, i) : elements;
        numbers[i] = tx_element(target->table, row, target->column, element, &recorder->scratch, recorder->state_full);
        failed = numbers[i] < 0;
    }
    Py_XDECREF(list);
    *operand = (Operand){0, TX_INT, 0, numbers};
    return failed ? -1 : 0;
}
