/* Recorder: what a task wants of shared tables, from the tuple in process to the results that are called back. */
#include "record.h"

/* Forgets all, and begins at a byte counter of the log. */
static void reset(Recorder *self, uint64_t head)
{
    Mark nothing = {head, 0, 0, 0, 0};
    tx_log_back(self, &nothing);
    self->waiting_first = self->waiting_placed = 0;
    self->reason_first = self->reason_count = 0;
    self->first_function = 0;
    self->placed = self->called = head;
    self->told = self->replay_end = vp_txlog_tail(self->log);
    self->taken = 0;
    self->base = self->oldest = 0;
    self->has_input = 0;
    self->recording = TX_OFF;
    tx_batches_clear(self);
    self->transaction->state = TX_IDLE;
}

static PyObject *begin(Recorder *self, PyObject *tup)
{
    Transaction *block = self->transaction;
    if (tx_log_begin(self, tup))
        return NULL;
    tx_block_free(block->block);
    block->block = NULL;
    block->serial++;
    block->state = TX_BEGUN;
    block->count = block->registers = block->conditions = 0;
    return Py_NewRef((PyObject *)block);
}

static PyObject *discard_input(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    self->transaction->state = TX_IDLE;
    if (self->recording == TX_ROWS)
        tx_batch_drop(self);
    if (self->recording == TX_TUPLES && self->has_input && self->input == self->base + (uint32_t)(self->inbox->handed - 1)) {
        tx_log_back(self, &self->input_mark);
        self->has_input = 0;
    }
    Py_RETURN_NONE;
}

static PyObject *evaluated_inputs(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    return PyLong_FromLongLong(tx_evaluated_inputs(self));
}

static PyObject *reset_to_head(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    reset(self, vp_txlog_head(self->log));
    Py_RETURN_NONE;
}

PyDoc_STRVAR(go_on_from_doc,
             "go_on_from(called): begin as a successor of one that has called back up to a byte counter, as `called_back` told.");

static PyObject *go_on_from(Recorder *self, PyObject *value)
{
    unsigned long long called = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred())
        return NULL;
    if (called > vp_txlog_head(self->log))
        vp_txlog_release(self->log, called);
    reset(self, called);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(leave_doc, "leave_published(): begin behind all that a predecessor has published, which nobody calls back.");

static PyObject *leave_published(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    reset(self, vp_txlog_tail(self->log));
    Py_RETURN_NONE;
}

static PyObject *called_back(Recorder *self, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(self->called);
}

static PyObject *head(Recorder *self, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(vp_txlog_head(self->log));
}

static PyObject *pending(Recorder *self, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(self->at < self->replay_end ? self->replay_end - self->at : 0);
}

static PyObject *is_replaying(Recorder *self, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(self->at < self->replay_end);
}

static PyObject *may_run_alone(Recorder *self, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(tx_may_run_alone(self));
}

static PyObject *in_flight(Recorder *self, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLong(self->base - self->oldest);
}

static PyObject *oldest(Recorder *self, void *ignored)
{
    (void)ignored;
    const vp_tx *tx = tx_oldest(self);
    if (tx == NULL)
        Py_RETURN_NONE;
    return Py_BuildValue("LKK", (long long)tx->ts, (unsigned long long)tx->hi, (unsigned long long)tx->lo);
}

/* -- made, and gone */

/* A type of this module; NULL with an error set. */
static PyTypeObject *type_named(PyObject *module, const char *name)
{
    PyObject *type = PyObject_GetAttrString(module, name);
    if (type != NULL && !PyType_Check(type)) {
        Py_CLEAR(type);
        PyErr_Format(PyExc_TypeError, "viper._rows.%s is no type", name);
    }
    return (PyTypeObject *)type;
}

static int make_transaction(Recorder *self)
{
    PyObject *module = PyImport_ImportModule("viper._rows");
    PyTypeObject *block = module == NULL ? NULL : type_named(module, "Transaction");
    PyTypeObject *handle = block == NULL ? NULL : type_named(module, "Handle");
    self->result_type = handle == NULL ? NULL : type_named(module, "Result");
    self->row_results_type = self->result_type == NULL ? NULL : type_named(module, "RowResults");
    if (self->row_results_type != NULL)
        self->transaction = tx_transaction_new(block, handle, self);
    Py_XDECREF(module);
    Py_XDECREF((PyObject *)block);
    Py_XDECREF((PyObject *)handle);
    return self->transaction == NULL ? -1 : 0;
}

static int check_parts_of(PyObject *inbox, PyObject *tables)
{
    int fits = rows_is_inbox(inbox);
    for (Py_ssize_t i = 0; fits && i < PyTuple_GET_SIZE(tables); i++)
        fits = tx_is_rows(PyTuple_GET_ITEM(tables, i));
    if (!fits)
        PyErr_SetString(PyExc_TypeError, "a Recorder is made of an Inbox, and of a tuple of SharedRows");
    return fits ? 0 : -1;
}

static int set_up(Recorder *self, PyObject *args)
{
    PyObject *inbox, *owner, *log, *tables, *resolve, *loads, *diverged, *log_full, *state_full, *lost;
    unsigned long long capacity;
    if (!PyArg_ParseTuple(args, "OOO!KO!OO(OOOO)", &inbox, &owner, &PyLong_Type, &log, &capacity, &PyTuple_Type, &tables, &resolve,
                          &loads, &diverged, &log_full, &state_full, &lost) ||
        check_parts_of(inbox, tables))
        return -1;
    self->log = PyLong_AsVoidPtr(log);
    if (self->log == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no log is at address 0");
        return -1;
    }
    self->capacity = capacity;
    self->inbox = (Inbox *)Py_NewRef(inbox);
    self->owner = Py_NewRef(owner);
    self->tables = Py_NewRef(tables);
    self->resolve = Py_NewRef(resolve);
    self->loads = Py_NewRef(loads);
    self->diverged = Py_NewRef(diverged);
    self->log_full = Py_NewRef(log_full);
    self->state_full = Py_NewRef(state_full);
    self->lost = Py_NewRef(lost);
    self->functions = PyList_New(0);
    if (self->functions == NULL || make_transaction(self))
        return -1;
    reset(self, vp_txlog_head(self->log));
    return 0;
}

static PyObject *recorder_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    if (options != NULL && PyDict_GET_SIZE(options)) {
        PyErr_SetString(PyExc_TypeError, "Recorder() takes no keywords");
        return NULL;
    }
    Recorder *self = (Recorder *)type->tp_alloc(type, 0);
    if (self != NULL && set_up(self, args))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int recorder_traverse(Recorder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT((PyObject *)self->inbox);
    Py_VISIT(self->owner);
    Py_VISIT(self->tables);
    Py_VISIT(self->resolve);
    Py_VISIT(self->loads);
    Py_VISIT(self->functions);
    return tx_names_traverse(self, visit, arg);
}

/* What could lead back here. The rest stays, as a transaction that is still open needs it. */
static int recorder_clear(Recorder *self)
{
    if (self->functions != NULL)
        PyList_SetSlice(self->functions, 0, PY_SSIZE_T_MAX, NULL);
    self->first_function = self->next_function = 0;
    Py_CLEAR(self->resolve);
    self->recording = TX_OFF;
    Py_CLEAR(self->inbox);
    tx_names_clear(self);
    return 0;
}

static void forget_texts(Recorder *self)
{
    for (Py_ssize_t i = self->reason_first; i < self->reason_count; i++)
        Py_DECREF(self->reasons[i].text);
    PyMem_Free(self->reasons);
}

static void recorder_dealloc(Recorder *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    if (self->transaction != NULL)
        self->transaction->recorder = NULL;
    Py_XDECREF((PyObject *)self->transaction);
    recorder_clear(self);
    forget_texts(self);
    PyMem_Free(self->waiting);
    tx_batches_clear(self);
    tx_known_clear(self);
    tx_key_clear(&self->scratch);
    Py_CLEAR(self->functions);
    Py_CLEAR(self->loads);
    Py_CLEAR(self->diverged);
    Py_CLEAR(self->log_full);
    Py_CLEAR(self->state_full);
    Py_CLEAR(self->lost);
    Py_XDECREF((PyObject *)self->result_type);
    Py_XDECREF((PyObject *)self->row_results_type);
    Py_CLEAR(self->tables);
    Py_CLEAR(self->owner);
    type->tp_free(self);
    Py_DECREF(type);
}

#define FAST(function) (PyCFunction)(void (*)(void))function, METH_FASTCALL

static PyMethodDef recorder_methods[] = {
    {"begin", (PyCFunction)begin, METH_O, "begin(tup) -> Transaction: a block of the tuple in process."},
    {"alone", FAST(tx_alone), "alone(tup, function): run it with a view of the tables, at the tuple's place in the order."},
    {"start", (PyCFunction)tx_start, METH_NOARGS, "start(): what the inbox is loaded with next is recorded."},
    {"start_rows", (PyCFunction)tx_start_rows, METH_O, "start_rows(count): the rows of a batch are recorded."},
    {"begin_rows", FAST(tx_begin_rows), "begin_rows(where=None) -> Transaction: a block for rows of the batch."},
    {"take_rows", (PyCFunction)tx_take_rows, METH_O, "take_rows(count) -> RowResults: of the next rows."},
    {"discard_input", (PyCFunction)discard_input, METH_NOARGS, "discard_input(): drop what the tuple in process wanted, or the batch."},
    {"place_at", FAST(tx_place), "place_at(address, first): give what was recorded since the last start its positions."},
    {"publish", (PyCFunction)tx_publish, METH_NOARGS, "publish() -> bool: tell of what has positions; whether it is all."},
    {"collected", (PyCFunction)tx_collected, METH_O, "collected(position): nothing below it comes any more."},
    {"has_room", (PyCFunction)tx_has_room, METH_NOARGS, "has_room() -> bool: whether to gather more."},
    {"evaluated_inputs", (PyCFunction)evaluated_inputs, METH_NOARGS,
     "evaluated_inputs() -> int: how many tuples can be called back."},
    {"take_results", (PyCFunction)tx_take_results, METH_NOARGS, "take_results() -> tuple of Result: of the next of these."},
    {"release", (PyCFunction)tx_release, METH_NOARGS, "release(): what was called back is needed no more."},
    {"reset_to_head", (PyCFunction)reset_to_head, METH_NOARGS,
     "reset_to_head(): forget all, and begin as a successor does; what was published from the head on is to be recorded again."},
    {"go_on_from", (PyCFunction)go_on_from, METH_O, go_on_from_doc},
    {"leave_published", (PyCFunction)leave_published, METH_NOARGS, leave_doc},
    {"next_alone", (PyCFunction)tx_next_alone, METH_NOARGS, "next_alone() -> function: the one that is to run now."},
    {"note_alone", (PyCFunction)tx_note_alone, METH_VARARGS,
     "note_alone((returned, value or reason), bytes): what it came to, and bytes of that for a successor."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef recorder_getset[] = {
    {"head", (getter)head, NULL, "Byte counter of the log up to which all was released.", NULL},
    {"called_back", (getter)called_back, NULL, "Byte counter of the log up to which all was called back.", NULL},
    {"pending", (getter)pending, NULL, "Bytes of a predecessor's transactions that were not recorded again yet.", NULL},
    {"is_replaying", (getter)is_replaying, NULL, "Whether there are any.", NULL},
    {"may_run_alone", (getter)may_run_alone, NULL, "Whether a function of the task's whose turn comes can be run here.", NULL},
    {"in_flight", (getter)in_flight, NULL, "Placed tuples that are not called back yet.", NULL},
    {"oldest", (getter)oldest, NULL, "Position of the oldest placed transaction that is not called back; None: there is none.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot recorder_slots[] = {
    {Py_tp_new, recorder_new},
    {Py_tp_doc, "Recorder(inbox, owner, log, log_bytes, tables, resolve, loads, (diverged, log_full, state_full, lost)): what a task\n"
                "wants of shared tables. `resolve` says of an object which table and column it is, -1 for a table."},
    {Py_tp_dealloc, recorder_dealloc},
    {Py_tp_traverse, recorder_traverse},
    {Py_tp_clear, recorder_clear},
    {Py_tp_methods, recorder_methods},
    {Py_tp_getset, recorder_getset},
    {0, NULL},
};

PyType_Spec tx_recorder_spec = {"viper._rows.Recorder", sizeof(Recorder), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, recorder_slots};
