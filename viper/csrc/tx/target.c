/* In which rows something is done.
 *
 * A row whose key is a number is looked up where those that were looked up before are known: 2 ns, where the table takes 25. */
#include "record.h"

enum { MOST_KNOWN = 1 << 14 };

static uint32_t known_room(const SharedRows *table)
{
    uint32_t room = 64;
    while (room < MOST_KNOWN && room < 2 * table->most_rows)
        room *= 2;
    return room;
}

static Known *known_of(Recorder *self, const Target *target)
{
    if (self->known == NULL)
        self->known = PyMem_Calloc((size_t)PyTuple_GET_SIZE(self->tables), sizeof *self->known);
    if (self->known != NULL && self->known[target->number] == NULL)
        self->known[target->number] = PyMem_Calloc(known_room(target->table), sizeof **self->known);
    if (self->known == NULL || self->known[target->number] == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    return self->known[target->number];
}

void tx_known_clear(Recorder *self)
{
    for (Py_ssize_t i = 0; self->known != NULL && i < PyTuple_GET_SIZE(self->tables); i++)
        PyMem_Free(self->known[i]);
    PyMem_Free(self->known);
    self->known = NULL;
}

/* Keys that follow each other lie side by side. */
static int64_t row_of_number(Recorder *self, const Target *target, Known *known, uint32_t mask, int64_t number)
{
    Known *at = &known[((uint64_t)number ^ (uint64_t)number >> 15) & mask];
    if (at->row && at->key == number)
        return (int64_t)at->row - 1;
    tx_key_of_number(&self->scratch, number);
    int64_t row = tx_enter_key(target->table, &self->scratch, self->state_full);
    if (row >= 0)
        *at = (Known){number, (uint32_t)row + 1};
    return row;
}

static int has_numbers(const SharedRows *table)
{
    return table->is_single && table->parts_kinds[0] == TX_INT;
}

/* -- of each row of a batch */

static int is_wide_key(const Transaction *self, const SharedRows *table, PyObject *key)
{
    if (table->is_single || PyList_Check(key))
        return tx_is_wide(self, key);
    for (Py_ssize_t i = 0; PyTuple_Check(key) && i < PyTuple_GET_SIZE(key); i++)
        if (tx_is_wide(self, PyTuple_GET_ITEM(key, i)))
            return 1;
    return 0;
}

/* The rows of so many keys that are numbers; -1 with an error set. */
static int known_rows(Recorder *self, const Target *target, const int64_t *numbers, uint32_t count, uint32_t *rows)
{
    Known *known = known_of(self, target);
    uint32_t mask = known_room(target->table) - 1;
    for (uint32_t i = 0; known != NULL && i < count; i++) {
        int64_t row = row_of_number(self, target, known, mask, numbers[i]);
        if (row < 0)
            return -1;
        rows[i] = (uint32_t)row;
    }
    return known == NULL ? -1 : 0;
}

static int rows_of_sequence(Transaction *self, Recorder *recorder, PyObject *keys, const Target *target, uint32_t *rows)
{
    PyObject *list = PySequence_List(keys); /* of its own, as what makes bytes of keys may run code */
    int failed = list == NULL || tx_check_length(PyList_GET_SIZE(list), self->block->rows, "the key");
    for (uint32_t i = 0; !failed && i < self->block->rows; i++) {
        int64_t row = tx_row(target->table, PyList_GET_ITEM(list, i), &recorder->scratch, recorder->state_full);
        rows[i] = (uint32_t)row;
        failed = row < 0;
    }
    Py_XDECREF(list);
    return failed ? -1 : 0;
}

static int rows_of_numbers(Transaction *self, Recorder *recorder, PyObject *keys, const Target *target, uint32_t *rows)
{
    uint32_t count = self->block->rows;
    int64_t *numbers = PyMem_Malloc(count * sizeof *numbers + 1);
    if (numbers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int64_t *fits;
    char kind = tx_wide_numbers(self, keys, numbers, &fits, "the key");
    int failed = kind == 0;
    if (fits != NULL || (failed && PyList_Check(keys))) { /* one of them is no key, which is named */
        PyErr_Clear();
        failed = rows_of_sequence(self, recorder, keys, target, rows);
    } else if (kind == TX_INT || (kind && count == 0)) {
        failed = known_rows(recorder, target, numbers, count, rows);
    } else if (kind) {
        failed = (PyErr_Format(PyExc_TypeError, "keys of table %U are int64; found an array of other numbers", target->table->name), 1);
    }
    PyMem_Free(numbers);
    return failed ? -1 : 0;
}

/* The tuples of parts, of which some are one for each row. */
static PyObject *zipped(Transaction *self, PyObject *parts)
{
    PyObject *keys = PyList_New(self->block->rows), *columns = PyTuple_New(PyTuple_GET_SIZE(parts));
    for (Py_ssize_t i = 0; columns != NULL && i < PyTuple_GET_SIZE(parts); i++) {
        PyObject *part = PyTuple_GET_ITEM(parts, i);
        PyObject *column = tx_is_wide(self, part) ? PySequence_List(part) : Py_NewRef(part);
        if (column == NULL || (column != part && tx_check_length(PyList_GET_SIZE(column), self->block->rows, "a part of the key")))
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

/* The rows of keys, one of each row. */
static int wide_rows(Transaction *self, Recorder *recorder, PyObject *keys, Target *target)
{
    const SharedRows *table = target->table;
    uint32_t *rows = tx_array_new(self, self->block->rows * sizeof *rows);
    if (rows == NULL)
        return -1;
    target->row = 0;
    target->rows = rows;
    if (has_numbers(table))
        return rows_of_numbers(self, recorder, keys, target, rows);
    PyObject *all = table->is_single || PyList_Check(keys) ? Py_NewRef(keys) : zipped(self, keys);
    int failed = all == NULL || rows_of_sequence(self, recorder, all, target, rows);
    Py_XDECREF(all);
    return failed ? -1 : 0;
}

/* -- a target */

int tx_name_row(Transaction *self, Recorder *recorder, PyObject *key, Target *target)
{
    int64_t number;
    target->rows = NULL;
    if (self->block != NULL && is_wide_key(self, target->table, key))
        return wide_rows(self, recorder, key, target);
    if (!has_numbers(target->table) || !PyLong_CheckExact(key)) {
        target->row = tx_row(target->table, key, &recorder->scratch, recorder->state_full);
        return target->row < 0 ? -1 : 0;
    }
    Known *known = known_of(recorder, target);
    if (known == NULL)
        return -1;
    if (tx_take_int64(key, &number) != 1)
        return tx_key_make(target->table, key, &recorder->scratch); /* which refuses it */
    target->row = row_of_number(recorder, target, known, known_room(target->table) - 1, number);
    return target->row < 0 ? -1 : 0;
}

int tx_append_on(Transaction *self, int code, const Target *target, const Operand *operand, int flags, char kind)
{
    int is_float = target->column >= 0 && target->table->kinds[target->column] == TX_FLOAT;
    vp_tx_instruction made = {.code = (uint8_t)code,
                              .flags = (uint8_t)(flags | (is_float ? VP_TX_FLOAT : 0)),
                              .table = (uint8_t)target->number,
                              .column = (uint8_t)(target->column < 0 ? 0 : target->column),
                              .row = (uint32_t)target->row};
    if (operand != NULL) {
        made.flags |= operand->is_register ? VP_TX_REGISTER : 0;
        made.operand = operand->word;
    }
    if (tx_append(self, made, kind) || tx_patch(self, 1, target->rows))
        return -1;
    return operand == NULL ? 0 : tx_patch(self, 0, operand->values);
}
