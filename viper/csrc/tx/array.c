/* What a block of a batch is given for each row: numbers and elements, in arrays (buffers) and lists. */
#include "record.h"

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

int tx_check_length(Py_ssize_t found, uint32_t expected, const char *what)
{
    if (found == (Py_ssize_t)expected)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s is given for %zd rows, and the block is for %u", what, found, expected);
    return -1;
}

/* -- numbers */

/* Notes that the number of a row does not fit; -1 with an error set. */
static int note_beyond(Transaction *self, int64_t **fits, uint32_t row)
{
    uint32_t count = self->block->rows;
    if (*fits == NULL) {
        *fits = tx_array_new(self, count * sizeof **fits);
        for (uint32_t i = 0; *fits != NULL && i < count; i++)
            (*fits)[i] = 1;
    }
    if (*fits == NULL)
        return -1;
    (*fits)[row] = 0;
    return 0;
}

static char numbers_of_buffer(Transaction *self, PyObject *values, int64_t *into, int64_t **fits, const char *what)
{
    Py_buffer view;
    int are_unsigned = 0;
    uint32_t count = self->block->rows;
    if (PyObject_GetBuffer(values, &view, PyBUF_FORMAT | PyBUF_STRIDES))
        return 0;
    char kind = 0;
    if (tx_check_length(view.shape[0], count, what) == 0) {
        kind = tx_plain_numbers(&view, into, &are_unsigned);
        if (kind == 0)
            PyErr_Format(PyExc_TypeError, "%s is an array of format %.20s; expected ints of 64 bits or less, floats of 32 or 64, or bools",
                         what, view.format == NULL ? "B" : view.format);
    }
    PyBuffer_Release(&view);
    for (uint32_t i = 0; kind && are_unsigned && i < count; i++)
        if (into[i] < 0 && note_beyond(self, fits, i))
            return 0;
    return kind;
}

/* Bools, ints, or floats where one is. Whatever finds out what a number is may run code, and change the list. */
static char numbers_of_list(Transaction *self, PyObject *values, int64_t *into, int64_t **fits, const char *what)
{
    uint32_t count = self->block->rows, bools = 0, floats = 0;
    if (tx_check_length(PyList_GET_SIZE(values), count, what))
        return 0;
    char *kinds = tx_array_new(self, count);
    for (uint32_t i = 0; kinds != NULL && i < count; i++) {
        PyObject *value = i < PyList_GET_SIZE(values) ? Py_NewRef(PyList_GET_ITEM(values, i)) : Py_NewRef(Py_None);
        into[i] = 0;
        int kind = tx_plain(value, &into[i]);
        int failed = kind < 0 || (kind == 0 && tx_refuse_operand(value, what)) || (kind == TX_BEYOND && note_beyond(self, fits, i));
        kinds[i] = (char)kind;
        Py_DECREF(value);
        if (failed)
            return 0;
        bools += kinds[i] == TX_BOOL;
        floats += kinds[i] == TX_FLOAT;
    }
    if (kinds == NULL)
        return 0;
    for (uint32_t i = 0; floats && i < count; i++)
        if (kinds[i] != TX_FLOAT)
            into[i] = word_of_double((double)into[i]);
    return floats ? TX_FLOAT : bools == count ? TX_BOOL : TX_INT;
}

char tx_wide_numbers(Transaction *self, PyObject *values, int64_t *into, int64_t **fits, const char *what)
{
    *fits = NULL;
    return PyList_Check(values) ? numbers_of_list(self, values, into, fits, what)
                                : numbers_of_buffer(self, values, into, fits, what);
}

int tx_wide_operand(Transaction *self, PyObject *values, Operand *operand, const char *what)
{
    int64_t *numbers = tx_array_new(self, self->block->rows * sizeof *numbers), *fits;
    if (numbers == NULL)
        return -1;
    char kind = tx_wide_numbers(self, values, numbers, &fits, what);
    *operand = (Operand){0, kind, 0, numbers};
    if (kind && fits != NULL)
        return tx_append_fitting(self, operand, fits);
    return kind ? 0 : -1;
}

/* -- elements */

int tx_wide_elements(Transaction *self, Recorder *recorder, PyObject *elements, const Target *target, Operand *operand)
{
    uint32_t count = self->block->rows;
    int is_wide = tx_is_wide(self, elements);
    int64_t *numbers = tx_array_new(self, count * sizeof *numbers);
    PyObject *list = numbers == NULL || !is_wide ? NULL : PySequence_List(elements);
    int failed = numbers == NULL || (is_wide && (list == NULL || tx_check_length(PyList_GET_SIZE(list), count, "the element")));
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
