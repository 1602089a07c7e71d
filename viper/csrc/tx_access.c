/* What a transaction does to columns of rows. */
#include "tx.h"

/* What `method` does, to what, and in which row; NULL with an error set. */
static Recorder *open_column(Transaction *self, PyObject *const *args, const char *method, Target *target, int64_t *row)
{
    Recorder *recorder = tx_enter(self);
    if (recorder == NULL)
        return NULL;
    if (tx_column(recorder, args[0], method, target) == 0 &&
        (*row = tx_row(target->table, args[1], &recorder->scratch, recorder->state_full)) >= 0)
        return recorder;
    tx_leave(recorder);
    return NULL;
}

static vp_tx_instruction on_column(int code, const Target *target, int64_t row)
{
    int is_float = target->table->kinds[target->column] == TX_FLOAT;
    return (vp_tx_instruction){.code = (uint8_t)code,
                               .flags = is_float ? VP_TX_FLOAT : 0,
                               .table = (uint8_t)target->number,
                               .column = (uint8_t)target->column,
                               .row = (uint32_t)row};
}

static int set_operand(Transaction *self, const Target *target, PyObject *value, vp_tx_instruction *made, const char *what)
{
    Operand operand;
    if (tx_operand(self, value, &operand, what) || tx_fit(self, target->table, target->column, &operand))
        return -1;
    made->flags |= operand.is_register ? VP_TX_REGISTER : 0;
    made->operand = operand.word;
    return 0;
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
    int64_t row;
    PyObject *made = NULL, *otherwise = default_of(args, count, names);
    if (otherwise == NULL && PyErr_Occurred())
        return NULL;
    Recorder *recorder = open_column(self, args, "read", &target, &row);
    if (recorder == NULL)
        return NULL;
    vp_tx_instruction read = on_column(VP_TX_READ, &target, row);
    int failed = 0;
    if (otherwise != NULL) {
        read.flags |= VP_TX_DEFAULT;
        failed = set_operand(self, &target, otherwise, &read, "the default");
    }
    char kind = target.table->kinds[target.column] == TX_FLOAT ? TX_FLOAT : TX_INT;
    if (!failed && tx_append(self, read, kind) == 0)
        made = tx_handle_new(self);
    tx_leave(recorder);
    return made;
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
    int64_t row;
    if (count != 3)
        return refuse_count(method, code == VP_TX_SET ? "column, key, value" : "column, key, operand", count);
    Recorder *recorder = open_column(self, args, method, &target, &row);
    if (recorder == NULL)
        return NULL;
    vp_tx_instruction written = on_column(code, &target, row);
    int failed = target.table->kinds[target.column] == TX_SET ? refuse_set(&target, method)
                                                              : set_operand(self, &target, args[2], &written, "the operand");
    failed = failed || tx_append(self, written, 0);
    tx_leave(recorder);
    return failed ? NULL : Py_NewRef(Py_None);
}

PyObject *tx_set(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return write_column(self, args, count, VP_TX_SET, "set");
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

/* What is done to an element of the set in a column; the register says what was found. */
static PyObject *on_element(Transaction *self, PyObject *const *args, Py_ssize_t count, int code, const char *method)
{
    Target target;
    int64_t row, element = -1;
    PyObject *made = NULL;
    if (count != 3)
        return refuse_count(method, "set_column, key, element", count);
    Recorder *recorder = open_column(self, args, method, &target, &row);
    if (recorder == NULL)
        return NULL;
    if (target.table->kinds[target.column] == TX_SET) {
        element = tx_element(target.table, row, target.column, args[2], &recorder->scratch, recorder->state_full);
    } else {
        PyObject *name = tx_column_name(target.table, target.column);
        if (name != NULL)
            PyErr_Format(PyExc_TypeError, "%s needs a column of sets; %U is none", method, name);
        Py_XDECREF(name);
    }
    vp_tx_instruction found = on_column(code, &target, row);
    found.operand = element;
    if (element >= 0 && tx_append(self, found, TX_BOOL) == 0)
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
