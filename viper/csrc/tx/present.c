/* What a transaction does to whole rows: whether they are there. */
#include "record.h"

static Recorder *open_table(Transaction *self, PyObject *const *args, Py_ssize_t count, const char *method, Target *target)
{
    if (count != 2) {
        PyErr_Format(PyExc_TypeError, "%s takes (table, key%s); found %zd arguments without names", method,
                     method[0] == 'p' ? ", name=value, ..." : "", count);
        return NULL;
    }
    Recorder *recorder = tx_enter(self);
    if (recorder == NULL)
        return NULL;
    if (tx_whole(recorder, args[0], method, target) == 0 && tx_name_row(self, recorder, args[1], target) == 0)
        return recorder;
    tx_leave(recorder);
    return NULL;
}

PyObject *tx_exists(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    Target target;
    PyObject *made = NULL;
    Recorder *recorder = open_table(self, args, count, "exists", &target);
    if (recorder == NULL)
        return NULL;
    if (tx_append_on(self, VP_TX_EXISTS, &target, NULL, 0, TX_BOOL) == 0)
        made = tx_handle_new(self);
    tx_leave(recorder);
    return made;
}

PyObject *tx_delete(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    Target target;
    Recorder *recorder = open_table(self, args, count, "delete", &target);
    if (recorder == NULL)
        return NULL;
    int failed = tx_append_on(self, VP_TX_DELETE, &target, NULL, 0, 0);
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
typedef struct {
    int column;
    Operand operand;
} Value;

static int value_of(Transaction *self, const Target *target, PyObject *name, PyObject *given, Value *value)
{
    value->column = column_of(target->table, name);
    if (value->column < 0)
        return -1;
    if (target->table->kinds[value->column] == TX_SET) {
        PyErr_Format(PyExc_TypeError, "column %U.%U is a set: put makes it empty, and t.insert fills it", target->table->name, name);
        return -1;
    }
    if (tx_operand(self, given, &value->operand, "a value"))
        return -1;
    return tx_fit(self, target->table, value->column, &value->operand);
}

/* The values first, as they may have to be made floats, which must not be passed over. */
static int put_row(Transaction *self, const Target *target, int code, PyObject *const *given, PyObject *names)
{
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    Value values[VP_SHARED_COLUMNS];
    Operand following = {.word = code == VP_TX_PUT_IF_ABSENT ? count : 0, .kind = TX_INT};
    if (count > target->table->columns) {
        PyErr_Format(PyExc_TypeError, "table %U has %d columns; found %zd values", target->table->name, target->table->columns,
                     count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (value_of(self, target, PyTuple_GET_ITEM(names, i), given[i], &values[i]))
            return -1;
    if (tx_append_on(self, code, target, &following, 0, code == VP_TX_PUT_IF_ABSENT ? TX_BOOL : 0))
        return -1;
    Target of = *target;
    for (Py_ssize_t i = 0; i < count; i++) {
        of.column = values[i].column;
        if (tx_append_on(self, VP_TX_SET, &of, &values[i].operand, 0, 0))
            return -1;
    }
    return 0;
}

PyObject *tx_put(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Target target;
    Recorder *recorder = open_table(self, args, count, "put", &target);
    if (recorder == NULL)
        return NULL;
    int failed = put_row(self, &target, VP_TX_PUT, args + count, names);
    tx_leave(recorder);
    return failed ? NULL : Py_NewRef(Py_None);
}

PyObject *tx_put_if_absent(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Target target;
    Recorder *recorder = open_table(self, args, count, "put_if_absent", &target);
    if (recorder == NULL)
        return NULL;
    PyObject *made = NULL;
    if (put_row(self, &target, VP_TX_PUT_IF_ABSENT, args + count, names) == 0)
        made = tx_handle_new(self);
    tx_leave(recorder);
    return made;
}
