/* What a transaction does to whole rows: whether they are there. */
#include "tx.h"

static Recorder *open_table(Transaction *self, PyObject *const *args, Py_ssize_t count, const char *method, Target *target,
                            int64_t *row)
{
    if (count != 2) {
        PyErr_Format(PyExc_TypeError, "%s takes (table, key%s); found %zd arguments without names", method,
                     method[0] == 'p' ? ", name=value, ..." : "", count);
        return NULL;
    }
    Recorder *recorder = tx_enter(self);
    if (recorder == NULL)
        return NULL;
    if (tx_whole(recorder, args[0], method, target) == 0 &&
        (*row = tx_row(target->table, args[1], &recorder->scratch, recorder->state_full)) >= 0)
        return recorder;
    tx_leave(recorder);
    return NULL;
}

static vp_tx_instruction on_row(int code, const Target *target, int64_t row)
{
    return (vp_tx_instruction){.code = (uint8_t)code, .table = (uint8_t)target->number, .row = (uint32_t)row};
}

PyObject *tx_exists(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    Target target;
    int64_t row;
    PyObject *made = NULL;
    Recorder *recorder = open_table(self, args, count, "exists", &target, &row);
    if (recorder == NULL)
        return NULL;
    if (tx_append(self, on_row(VP_TX_EXISTS, &target, row), TX_BOOL) == 0)
        made = tx_handle_new(self);
    tx_leave(recorder);
    return made;
}

PyObject *tx_delete(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    Target target;
    int64_t row;
    Recorder *recorder = open_table(self, args, count, "delete", &target, &row);
    if (recorder == NULL)
        return NULL;
    int failed = tx_append(self, on_row(VP_TX_DELETE, &target, row), 0);
    tx_leave(recorder);
    return failed ? NULL : Py_NewRef(Py_None);
}

/* The index of a column by its name; -1 with an error set. */
static int column_of(const SharedRows *table, PyObject *name)
{
    for (int i = 0; i < table->columns; i++)
        if (PyTuple_GET_ITEM(table->names, i) == name)
            return i;
    for (int i = 0; i < table->columns; i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(table->names, i), name) == 0)
            return i;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "table %U has no column %R; it has %R", table->name, name, table->names);
    return -1;
}

/* What is to be SET in a column of a row that was just put. */
static int value_of(Transaction *self, const Target *target, int64_t row, PyObject *name, PyObject *value, vp_tx_instruction *made)
{
    Operand operand;
    int column = column_of(target->table, name);
    if (column < 0)
        return -1;
    if (target->table->kinds[column] == TX_SET) {
        PyErr_Format(PyExc_TypeError, "column %U.%U is a set: put makes it empty, and t.insert fills it", target->table->name, name);
        return -1;
    }
    if (tx_operand(self, value, &operand, "a value") || tx_fit(self, target->table, column, &operand))
        return -1;
    *made = on_row(VP_TX_SET, target, row);
    made->flags = (operand.is_register ? VP_TX_REGISTER : 0) | (target->table->kinds[column] == TX_FLOAT ? VP_TX_FLOAT : 0);
    made->column = (uint8_t)column;
    made->operand = operand.word;
    return 0;
}

/* The values first, as they may have to be made floats, which must not be passed over. */
static int put_row(Transaction *self, const Target *target, int64_t row, int code, PyObject *const *values, PyObject *names)
{
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    vp_tx_instruction sets[VP_SHARED_COLUMNS];
    if (count > target->table->columns) {
        PyErr_Format(PyExc_TypeError, "table %U has %d columns; found %zd values", target->table->name, target->table->columns,
                     count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (value_of(self, target, row, PyTuple_GET_ITEM(names, i), values[i], &sets[i]))
            return -1;
    vp_tx_instruction put = on_row(code, target, row);
    put.operand = code == VP_TX_PUT_IF_ABSENT ? count : 0;
    if (tx_append(self, put, code == VP_TX_PUT_IF_ABSENT ? TX_BOOL : 0))
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        if (tx_append(self, sets[i], 0))
            return -1;
    return 0;
}

PyObject *tx_put(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Target target;
    int64_t row;
    Recorder *recorder = open_table(self, args, count, "put", &target, &row);
    if (recorder == NULL)
        return NULL;
    int failed = put_row(self, &target, row, VP_TX_PUT, args + count, names);
    tx_leave(recorder);
    return failed ? NULL : Py_NewRef(Py_None);
}

PyObject *tx_put_if_absent(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Target target;
    int64_t row;
    Recorder *recorder = open_table(self, args, count, "put_if_absent", &target, &row);
    if (recorder == NULL)
        return NULL;
    PyObject *made = NULL;
    if (put_row(self, &target, row, VP_TX_PUT_IF_ABSENT, args + count, names) == 0)
        made = tx_handle_new(self);
    tx_leave(recorder);
    return made;
}
