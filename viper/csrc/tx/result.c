/* Result: what came of one transaction. It has what the log had, which goes. */
#include "record.h"

typedef struct {
    PyObject_VAR_HEAD  /* the size is the number of registers */
    PyObject *values;  /* tuple; NULL: not made yet */
    PyObject *reason;  /* NULL: it was not aborted */
    int64_t words[];   /* of each register, and behind them a byte each for its kind */
} Result;

enum { IS_VALUE = 0x80 }; /* beside a kind: it was read, and not computed */

static char *kinds_of(const Result *self)
{
    return (char *)(self->words + Py_SIZE((PyObject *)self));
}

/* The kind of the register that an instruction writes; 0: it writes none. */
static int kind_of(const vp_tx_instruction *instruction)
{
    int number = instruction->flags & VP_TX_FLOAT ? TX_FLOAT : TX_INT;
    switch (instruction->code) {
    case VP_TX_READ:
        return number | IS_VALUE;
    case VP_TX_PUT_IF_ABSENT:
    case VP_TX_SET_ADD:
    case VP_TX_SET_DISCARD:
    case VP_TX_SET_HAS:
    case VP_TX_EXISTS:
        return TX_INT | IS_VALUE;
    case VP_TX_TO_FLOAT:
        return TX_FLOAT;
    default:
        return instruction->code < VP_TX_PLUS ? 0 : instruction->code < VP_TX_BELOW ? number : TX_BOOL;
    }
}

PyObject *tx_result_new(PyTypeObject *type, const vp_tx *tx, PyObject *reason)
{
    Py_ssize_t count = reason == NULL ? tx->registers : 0;
    Result *self = PyObject_NewVar(Result, type, count);
    if (self == NULL) {
        Py_XDECREF(reason);
        return NULL;
    }
    self->values = NULL;
    self->reason = reason;
    if (count == 0)
        return (PyObject *)self;
    memcpy(self->words, tx_words(tx), (size_t)count * sizeof(int64_t));
    char *kinds = kinds_of(self);
    const vp_tx_instruction *program = tx_program(tx);
    Py_ssize_t made = 0;
    for (uint32_t i = 0; i < tx->program && made < count; i++) {
        int kind = kind_of(&program[i]);
        if (kind)
            kinds[made++] = (char)kind;
    }
    memset(kinds + made, TX_INT, (size_t)(count - made));
    return (PyObject *)self;
}

PyObject *tx_result_alone(PyTypeObject *type, PyObject *value, PyObject *reason)
{
    PyObject *values = value == NULL ? NULL : PyTuple_Pack(1, value);
    Py_XDECREF(value);
    Result *self = value != NULL && values == NULL ? NULL : PyObject_NewVar(Result, type, 0);
    if (self == NULL) {
        Py_XDECREF(values);
        Py_XDECREF(reason);
        return NULL;
    }
    self->values = values;
    self->reason = reason;
    return (PyObject *)self;
}

static PyObject *made_values(const Result *self)
{
    Py_ssize_t registers = Py_SIZE((PyObject *)self), count = 0;
    const char *kinds = kinds_of(self);
    for (Py_ssize_t i = 0; i < registers; i++)
        count += (kinds[i] & IS_VALUE) != 0;
    PyObject *values = PyTuple_New(count);
    count = 0;
    for (Py_ssize_t i = 0; values != NULL && i < registers; i++) {
        if (!(kinds[i] & IS_VALUE))
            continue;
        PyObject *value = tx_number(kinds[i] & ~IS_VALUE, self->words[i]);
        if (value == NULL)
            Py_CLEAR(values);
        else
            PyTuple_SET_ITEM(values, count++, value);
    }
    return values;
}

/* Borrowed; NULL with an error set. */
static PyObject *values_of(Result *self)
{
    if (self->values == NULL)
        self->values = made_values(self);
    return self->values;
}

static PyObject *values(Result *self, void *ignored)
{
    (void)ignored;
    return Py_XNewRef(values_of(self));
}

static PyObject *aborted(Result *self, void *ignored)
{
    (void)ignored;
    return Py_NewRef(self->reason == NULL ? Py_None : self->reason);
}

static int is_done(Result *self)
{
    return self->reason == NULL;
}

static Py_ssize_t length(Result *self)
{
    PyObject *found = values_of(self);
    return found == NULL ? -1 : PyTuple_GET_SIZE(found);
}

static PyObject *of_handle(const Result *self, const Handle *handle)
{
    if (self->reason != NULL) {
        PyErr_Format(PyExc_LookupError, "the transaction was aborted (%U), and has no values", self->reason);
        return NULL;
    }
    if ((Py_ssize_t)handle->number >= Py_SIZE((PyObject *)self)) {
        PyErr_Format(PyExc_LookupError, "the transaction has %zd results and intermediate ones; the handle is of another one, which has "
                     "more", Py_SIZE((PyObject *)self));
        return NULL;
    }
    return tx_number(kinds_of(self)[handle->number] & ~IS_VALUE, self->words[handle->number]);
}

static PyObject *item(Result *self, PyObject *key)
{
    if (tx_is_handle(key))
        return of_handle(self, (Handle *)key);
    if (!PyIndex_Check(key)) {
        PyErr_Format(PyExc_TypeError, "a value of a result is had by its handle or its index; found %.100R", key);
        return NULL;
    }
    PyObject *found = values_of(self);
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (found == NULL || (index == -1 && PyErr_Occurred()))
        return NULL;
    Py_ssize_t place = index < 0 ? index + PyTuple_GET_SIZE(found) : index;
    if (place >= 0 && place < PyTuple_GET_SIZE(found))
        return Py_NewRef(PyTuple_GET_ITEM(found, place));
    if (self->reason != NULL)
        PyErr_Format(PyExc_IndexError, "the transaction was aborted (%U), and has no values", self->reason);
    else
        PyErr_Format(PyExc_IndexError, "the transaction has %zd values; there is no index %zd", PyTuple_GET_SIZE(found), index);
    return NULL;
}

static PyObject *result_repr(Result *self)
{
    if (self->reason != NULL)
        return PyUnicode_FromFormat("<result: aborted, %U>", self->reason);
    PyObject *found = values_of(self);
    return found == NULL ? NULL : PyUnicode_FromFormat("<result: %R>", found);
}

static void result_dealloc(Result *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    Py_XDECREF(self->values);
    Py_XDECREF(self->reason);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyGetSetDef result_getset[] = {
    {"values", (getter)values, NULL, "What was read, in the order of the program; nothing if it was aborted.", NULL},
    {"aborted", (getter)aborted, NULL, "Why it was aborted; None: it was not.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot result_slots[] = {
    {Py_tp_doc, "What came of a transaction; true unless it was aborted."},
    {Py_tp_dealloc, result_dealloc},
    {Py_tp_repr, result_repr},
    {Py_tp_getset, result_getset},
    {Py_nb_bool, is_done},
    {Py_mp_length, length},
    {Py_mp_subscript, item},
    {0, NULL},
};

/* A byte for the kind of each register beside its word. */
PyType_Spec tx_result_spec = {"viper._rows.Result", sizeof(Result), sizeof(int64_t) + 1,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, result_slots};
