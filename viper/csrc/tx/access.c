/* What a transaction does to columns of rows: numbers, and sets. */
#include "record.h"

/* What `method` does something to, and in which row; NULL with an error set. */
static Recorder *open_column(Transaction *self, PyObject *const *args, const char *method, Target *target)
{
    Recorder *recorder = tx_enter(self);
    if (recorder == NULL)
        return NULL;
    if (tx_column(recorder, args[0], method, target) == 0 && tx_name_row(self, recorder, args[1], target) == 0)
        return recorder;
    tx_leave(recorder);
    return NULL;
}

/* What is to fit the column. */
static int take_operand(Transaction *self, const Target *target, PyObject *value, Operand *operand, const char *what)
{
    if (tx_operand(self, value, operand, what))
        return -1;
    return tx_fit(self, target->table, target->column, operand);
}

static PyObject *refuse_count(const char *method, const char *arguments, Py_ssize_t count)
{
    PyErr_Format(PyExc_TypeError, "%s takes (%s); found %zd arguments", method, arguments, count);
    return NULL;
}

/* The default among the arguments of read; NULL: none, with an error set if the arguments are wrong. */
static PyObject *default_of(PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    int is_default = named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "default") == 0;
    if (count < 2 || count + named > 3 || (named && !is_default))
        return refuse_count("read", "column, key[, default]", count + named);
    return count + named == 3 ? args[2] : NULL;
}

PyObject *tx_read(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Target target;
    Operand operand;
    PyObject *made = NULL, *otherwise = default_of(args, count, names);
    if (otherwise == NULL && PyErr_Occurred())
        return NULL;
    Recorder *recorder = open_column(self, args, "read", &target);
    if (recorder == NULL)
        return NULL;
    int has_default = otherwise != NULL;
    char kind = target.table->kinds[target.column] == TX_FLOAT ? TX_FLOAT : TX_INT;
    if ((!has_default || take_operand(self, &target, otherwise, &operand, "the default") == 0) &&
        tx_append_on(self, VP_TX_READ, &target, has_default ? &operand : NULL, has_default ? VP_TX_DEFAULT : 0, kind) == 0)
        made = tx_handle_new(self);
    tx_leave(recorder);
    return made;
}

/* The keys of many rows, and their number; NULL with an error set. A tuple, which nobody changes meanwhile. */
static PyObject *keys_of(PyObject *keys, const char *method)
{
    if (PyUnicode_Check(keys) || PyBytes_Check(keys) || !PySequence_Check(keys)) {
        PyErr_Format(PyExc_TypeError, "%s takes a list or tuple of keys; found %R", method, keys);
        return NULL;
    }
    return PySequence_Tuple(keys);
}

PyObject *tx_read_each(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    Target target;
    if (count != 2)
        return refuse_count("read_each", "column, keys", count);
    PyObject *keys = keys_of(args[1], "read_each"), *handles = keys == NULL ? NULL : PyTuple_New(PyTuple_GET_SIZE(keys));
    Recorder *recorder = handles == NULL ? NULL : tx_enter(self);
    int failed = recorder == NULL || tx_column(recorder, args[0], "read_each", &target);
    const char kind = !failed && target.table->kinds[target.column] == TX_FLOAT ? TX_FLOAT : TX_INT;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(keys); i++) {
        PyObject *handle = NULL;
        if (tx_name_row(self, recorder, PyTuple_GET_ITEM(keys, i), &target) == 0 &&
            tx_append_on(self, VP_TX_READ, &target, NULL, 0, kind) == 0)
            handle = tx_handle_new(self);
        failed = handle == NULL;
        if (!failed)
            PyTuple_SET_ITEM(handles, i, handle);
    }
    if (recorder != NULL)
        tx_leave(recorder);
    Py_XDECREF(keys);
    if (failed)
        Py_CLEAR(handles);
    return handles;
}

static int refuse_set(const Target *target, const char *method)
{
    PyObject *name = tx_column_name(target->table, target->column);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "%s changes a number, and %U is a set: write t.insert(%U, key, element) or t.discard",
                     method, name, name);
    Py_XDECREF(name);
    return -1;
}

static PyObject *write_column(Transaction *self, PyObject *const *args, Py_ssize_t count, int code, const char *method)
{
    Target target;
    Operand operand;
    if (count != 3)
        return refuse_count(method, code == VP_TX_SET ? "column, key, value" : "column, key, operand", count);
    Recorder *recorder = open_column(self, args, method, &target);
    if (recorder == NULL)
        return NULL;
    int failed = target.table->kinds[target.column] == TX_SET ? refuse_set(&target, method)
                                                              : take_operand(self, &target, args[2], &operand, "the operand");
    failed = failed || tx_append_on(self, code, &target, &operand, 0, 0);
    tx_leave(recorder);
    return failed ? NULL : Py_NewRef(Py_None);
}

PyObject *tx_set(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return write_column(self, args, count, VP_TX_SET, "set");
}

static int write_all(Transaction *self, Recorder *recorder, const char *method, int code, PyObject *column, PyObject *keys,
                     PyObject *operands)
{
    Target target;
    Operand operand;
    if (tx_column(recorder, column, method, &target))
        return -1;
    if (target.table->kinds[target.column] == TX_SET)
        return refuse_set(&target, method);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); i++)
        if (tx_name_row(self, recorder, PyTuple_GET_ITEM(keys, i), &target) ||
            take_operand(self, &target, PyTuple_GET_ITEM(operands, i), &operand, "the operand") ||
            tx_append_on(self, code, &target, &operand, 0, 0))
            return -1;
    return 0;
}

static PyObject *write_each(Transaction *self, PyObject *const *args, Py_ssize_t count, int code, const char *method)
{
    if (count != 3)
        return refuse_count(method, code == VP_TX_SET ? "column, keys, values" : "column, keys, operands", count);
    PyObject *keys = keys_of(args[1], method), *operands = keys == NULL ? NULL : PySequence_Tuple(args[2]);
    Recorder *recorder = operands == NULL ? NULL : tx_enter(self);
    int failed = recorder == NULL;
    if (!failed && PyTuple_GET_SIZE(keys) != PyTuple_GET_SIZE(operands)) {
        PyErr_Format(PyExc_ValueError, "%s has %zd keys, and %zd values for them", method, PyTuple_GET_SIZE(keys),
                     PyTuple_GET_SIZE(operands));
        failed = 1;
    }
    failed = failed || write_all(self, recorder, method, code, args[0], keys, operands);
    if (recorder != NULL)
        tx_leave(recorder);
    Py_XDECREF(keys);
    Py_XDECREF(operands);
    return failed ? NULL : Py_NewRef(Py_None);
}

PyObject *tx_set_each(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return write_each(self, args, count, VP_TX_SET, "set_each");
}

PyObject *tx_add_each(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return write_each(self, args, count, VP_TX_ADD, "add_each");
}

PyObject *tx_add(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return write_column(self, args, count, VP_TX_ADD, "add");
}

PyObject *tx_subtract(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return write_column(self, args, count, VP_TX_SUBTRACT, "subtract");
}

PyObject *tx_min(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return write_column(self, args, count, VP_TX_MIN, "min");
}

PyObject *tx_max(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return write_column(self, args, count, VP_TX_MAX, "max");
}

/* -- sets */

static int check_set(const Target *target, const char *method)
{
    if (target->table->kinds[target->column] == TX_SET)
        return 0;
    PyObject *name = tx_column_name(target->table, target->column);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "%s needs a column of sets; %U is none", method, name);
    Py_XDECREF(name);
    return -1;
}

/* The number of an element, or those of elements. */
static int name_element(Transaction *self, Recorder *recorder, PyObject *element, const Target *target, Operand *operand)
{
    if (target->rows != NULL || tx_is_wide(self, element))
        return tx_wide_elements(self, recorder, element, target, operand);
    *operand = (Operand){.kind = TX_INT};
    operand->word = tx_element(target->table, target->row, target->column, element, &recorder->scratch, recorder->state_full);
    return operand->word < 0 ? -1 : 0;
}

/* What is done to an element of the set in a column; the register says what was found. */
static PyObject *on_element(Transaction *self, PyObject *const *args, Py_ssize_t count, int code, const char *method)
{
    Target target;
    Operand operand;
    PyObject *made = NULL;
    if (count != 3)
        return refuse_count(method, "set_column, key, element", count);
    Recorder *recorder = open_column(self, args, method, &target);
    if (recorder == NULL)
        return NULL;
    if (check_set(&target, method) == 0 && name_element(self, recorder, args[2], &target, &operand) == 0 &&
        tx_append_on(self, code, &target, &operand, 0, TX_BOOL) == 0)
        made = tx_handle_new(self);
    tx_leave(recorder);
    return made;
}

PyObject *tx_insert(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return on_element(self, args, count, VP_TX_SET_ADD, "insert");
}

PyObject *tx_discard(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return on_element(self, args, count, VP_TX_SET_DISCARD, "discard");
}

PyObject *tx_has(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return on_element(self, args, count, VP_TX_SET_HAS, "has");
}
