/* Transaction: the block of a `with` in which a tuple says what it wants of shared tables. There is one for each recorder, used for
 * one block after the other. */
#include "record.h"

static PyObject *enter_block(Transaction *self, PyObject *ignored)
{
    (void)ignored;
    if (self->state != TX_BEGUN) {
        PyErr_SetString(PyExc_ValueError, "a transaction has one block: with self.transaction(tup) as t");
        return NULL;
    }
    self->state = TX_OPEN;
    return Py_NewRef((PyObject *)self);
}

/* What the block has said is a transaction of the tuple's from now on, unless it was left by an exception. */
static PyObject *exit_block(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    Recorder *recorder = tx_enter(self);
    if (recorder == NULL)
        return NULL;
    int failed = 0;
    self->state = TX_IDLE;
    int is_dropped = count < 1 || args[0] != Py_None;
    if (self->block != NULL)
        failed = !is_dropped && tx_block_end(self, recorder);
    else if (!is_dropped)
        failed = tx_log_add(recorder, VP_TX_PROGRAM, self->program, self->count, self->registers) == NULL;
    if (self->block == NULL && (failed || is_dropped))
        tx_log_back(recorder, &recorder->block_mark);
    tx_block_free(self->block);
    self->block = NULL;
    tx_leave(recorder);
    return failed ? NULL : Py_NewRef(Py_False);
}

static PyObject *transaction_repr(Transaction *self)
{
    return PyUnicode_FromFormat("<transaction of %u instructions%s>", self->count, self->state == TX_OPEN ? "" : ", over");
}

Transaction *tx_transaction_new(PyTypeObject *type, PyTypeObject *handle_type, Recorder *recorder)
{
    Transaction *self = PyObject_New(Transaction, type);
    if (self == NULL)
        return NULL;
    memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
    self->recorder = recorder;
    self->handle_type = (PyTypeObject *)Py_NewRef((PyObject *)handle_type);
    return self;
}

static void transaction_dealloc(Transaction *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyMem_Free(self->program);
    PyMem_Free(self->kinds);
    tx_block_free(self->block);
    Py_XDECREF((PyObject *)self->handle_type);
    PyObject_Free(self);
    Py_DECREF(type);
}

#define FAST(function) (PyCFunction)(void (*)(void))function, METH_FASTCALL
#define NAMED(function) (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS

static PyMethodDef transaction_methods[] = {
    {"read", NAMED(tx_read), "read(column, key[, default]) -> handle of the value, of a set of the number of its elements."},
    {"read_each", FAST(tx_read_each), "read_each(column, keys) -> tuple of handles: of one column in many rows."},
    {"set_each", FAST(tx_set_each), "set_each(column, keys, values): set one column in many rows."},
    {"add_each", FAST(tx_add_each), "add_each(column, keys, operands): add to one column in many rows."},
    {"set", FAST(tx_set), "set(column, key, value): the column is this from now on."},
    {"add", FAST(tx_add), "add(column, key, operand): the column is more by that."},
    {"subtract", FAST(tx_subtract), "subtract(column, key, operand): the column is less by that."},
    {"min", FAST(tx_min), "min(column, key, operand): the column is that if it is more."},
    {"max", FAST(tx_max), "max(column, key, operand): the column is that if it is less."},
    {"insert", FAST(tx_insert), "insert(set_column, key, element) -> handle: 1 if the set had it not."},
    {"discard", FAST(tx_discard), "discard(set_column, key, element) -> handle: 1 if the set had it."},
    {"has", FAST(tx_has), "has(set_column, key, element) -> handle: 1 if the set has it."},
    {"put", NAMED(tx_put), "put(table, key, **values): the row is there, and has these values, or its defaults, or 0."},
    {"put_if_absent", NAMED(tx_put_if_absent), "put_if_absent(table, key, **values) -> handle: 1 if the row was put."},
    {"exists", FAST(tx_exists), "exists(table, key) -> handle: 1 if the row is there."},
    {"delete", FAST(tx_delete), "delete(table, key): the row is not there any more."},
    {"require", FAST(tx_require), "require(condition[, reason]): without it the transaction leaves no trace."},
    {"least", FAST(tx_least), "least(a, b): the less of two values."},
    {"greatest", FAST(tx_greatest), "greatest(a, b): the greater of two values."},
    {"float", (PyCFunction)tx_float, METH_O, "float(a): the value as a float."},
    {"__enter__", (PyCFunction)enter_block, METH_NOARGS, NULL},
    {"__exit__", FAST(exit_block), NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot transaction_slots[] = {
    {Py_tp_doc, "What a tuple wants of shared tables: all of it, or nothing."},
    {Py_tp_dealloc, transaction_dealloc},
    {Py_tp_repr, transaction_repr},
    {Py_tp_methods, transaction_methods},
    {0, NULL},
};

PyType_Spec tx_transaction_spec = {"viper._rows.Transaction", sizeof(Transaction), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, transaction_slots};
