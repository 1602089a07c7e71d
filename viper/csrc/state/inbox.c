/* What a component receives. */
#include "inbox.h"

static int inbox_traverse(Inbox *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->record);
    Py_VISIT(self->scope);
    Py_VISIT(self->outbox);
    Py_VISIT(self->pieces);
    Py_VISIT(self->piece);
    Py_VISIT(self->checked);
    Py_VISIT(self->spare[0]);
    Py_VISIT(self->spare[1]);
    return 0;
}

static int inbox_clear(Inbox *self)
{
    Py_CLEAR(self->record);
    Py_CLEAR(self->scope);
    Py_CLEAR(self->outbox);
    Py_CLEAR(self->pieces);
    Py_CLEAR(self->piece);
    Py_CLEAR(self->checked);
    Py_CLEAR(self->spare[0]);
    Py_CLEAR(self->spare[1]);
    return 0;
}

static void inbox_dealloc(Inbox *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    inbox_clear(self);
    PyMem_Free(self->marks);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static int is_tuple_type(PyObject *candidate)
{
    return PyType_Check(candidate) && PyType_IsSubtype((PyTypeObject *)candidate, &PyTuple_Type);
}

static int inbox_set_up(Inbox *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"record", "outbox", "pause_at", "scope", NULL};
    PyObject *record, *outbox, *scope = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOn|O", keywords, &record, &outbox, &self->pause_at, &scope))
        return -1;
    if (scope != Py_None && !is_scope(scope)) {
        PyErr_SetString(PyExc_TypeError, "an Inbox tells a Scope, or None, which tuple is in process");
        return -1;
    }
    if (!is_tuple_type(record) || (outbox != Py_None && !rows_is_outbox(outbox))) {
        PyErr_SetString(PyExc_TypeError, "an Inbox is made of a named tuple class and an Outbox or None");
        return -1;
    }
    self->record = (PyTypeObject *)Py_NewRef(record);
    self->reuses = rows_is_bare(self->record);
    if (outbox != Py_None)
        self->outbox = (Outbox *)Py_NewRef(outbox);
    if (scope != Py_None)
        self->scope = (Scope *)Py_NewRef(scope);
    return 0;
}

/* In tp_new, so that there is no inbox that has not been set up. */
static PyObject *inbox_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Inbox *self = (Inbox *)type->tp_alloc(type, 0);
    if (self != NULL && inbox_set_up(self, args, kwargs))
        Py_CLEAR(self);
    return (PyObject *)self;
}

PyDoc_STRVAR(inbox_load_doc,
             "load(pieces): iterate next over the rows of these pieces, each (rows, first, count, head) for\n"
             "rows[first:first + count], where None stands for a row that is skipped, with a head of (component, stream, task, values, ...): which task of which\n"
             "component emitted them on which stream, and the named tuple class of their values or None. A piece of\n"
             "several streams is (rows, first, count, heads, which): head heads[which[i]] (native uint16) is that of rows[i].\n"
             "Returns the inbox.");

static PyObject *inbox_load(Inbox *self, PyObject *pieces)
{
    if (!PyList_Check(pieces)) {
        PyErr_SetString(PyExc_TypeError, "an Inbox is loaded with a list of pieces");
        return NULL;
    }
    PyObject *before = self->pieces, *result = (PyObject *)self;
    Py_INCREF(pieces);
    self->pieces = pieces;
    self->next_piece = self->next = self->stop = self->handed = 0;
    Py_XDECREF(before);
    Py_INCREF(result);
    return result;
}

/* The index in a head of the number of values at the end of each row that are not the stream's; none at all: 0. */
enum { BESIDE_OF_HEAD = 7 };

/* The index in a head that is true where nobody can change the rows' values; none at all: somebody may. */
enum { SEALED_OF_HEAD = 8 };

/* Has a head, which is one, say what the rows are that come next; -1 with an error set. */
static int inbox_use_head(Inbox *self, PyObject *head)
{
    PyObject *values = PyTuple_GET_ITEM(head, 3);
    self->head = head;
    self->values = values == Py_None ? NULL : (PyTypeObject *)values;
    self->beside = PyTuple_GET_SIZE(head) > BESIDE_OF_HEAD ? PyLong_AsSsize_t(PyTuple_GET_ITEM(head, BESIDE_OF_HEAD)) : 0;
    self->is_sealed = PyTuple_GET_SIZE(head) > SEALED_OF_HEAD && PyTuple_GET_ITEM(head, SEALED_OF_HEAD) == Py_True;
    return self->beside == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Lets rows of that head come next; -1 with an error set if it is none. */
static int inbox_take_head(Inbox *self, PyObject *head)
{
    if (!PyTuple_Check(head)) {
        PyErr_SetString(PyExc_TypeError, "the head of a row is a tuple");
        return -1;
    }
    if (PyTuple_GET_SIZE(head) < 4) {
        PyErr_Format(PyExc_ValueError, "no piece: a head of %zd", PyTuple_GET_SIZE(head));
        return -1;
    }
    PyObject *values = PyTuple_GET_ITEM(head, 3);
    if (values != Py_None && !is_tuple_type(values)) {
        PyErr_SetString(PyExc_TypeError, "the values of a piece need a tuple class or None");
        return -1;
    }
    return inbox_use_head(self, head);
}

/* Looks at heads, unless they are those that were looked at last; -1 with an error set if one is none. Pieces of one
 * task have all the same. */
static int inbox_check_heads(Inbox *self, PyObject *heads)
{
    if (self->checked == heads)
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(heads); i++)
        if (inbox_take_head(self, PyTuple_GET_ITEM(heads, i)))
            return -1;
    Py_XSETREF(self->checked, Py_NewRef(heads));
    return 0;
}

/* Reads the current piece; -1 with an error set. */
static int inbox_read_piece(Inbox *self)
{
    Py_ssize_t first, count;
    PyObject *rows, *heads, *which = NULL;
    if (!PyTuple_Check(self->piece)) {
        PyErr_SetString(PyExc_TypeError, "a piece is a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(self->piece, "O!nnO!|S", &PyList_Type, &rows, &first, &count, &PyTuple_Type, &heads, &which))
        return -1;
    Py_ssize_t known = which == NULL ? PyList_GET_SIZE(rows) : PyBytes_GET_SIZE(which) / (Py_ssize_t)sizeof(uint16_t);
    if (first < 0 || count < 0 || count > PyList_GET_SIZE(rows) - first || count > known - first) {
        PyErr_Format(PyExc_ValueError, "no piece: %zd rows from %zd on, of %zd, with the heads of %zd", count, first,
                     PyList_GET_SIZE(rows), known);
        return -1;
    }
    if (which == NULL ? inbox_take_head(self, heads) : inbox_check_heads(self, heads))
        return -1;
    self->rows = rows;
    self->heads = heads;
    self->which = which == NULL ? NULL : (const uint16_t *)PyBytes_AS_STRING(which);
    self->next = first;
    self->stop = first + count;
    return 0;
}

/* Makes the next piece the current one: 1, or 0 if there is none, or -1 with an error set. */
static int inbox_open_piece(Inbox *self)
{
    if (self->pieces == NULL || self->next_piece >= PyList_GET_SIZE(self->pieces))
        return 0;
    PyObject *before = self->piece;
    self->piece = Py_NewRef(PyList_GET_ITEM(self->pieces, self->next_piece));
    self->next_piece++;
    self->next = self->stop = 0;
    int failed = inbox_read_piece(self);
    Py_XDECREF(before); /* last, as a value that goes with it may run code of its own */
    return failed ? -1 : 1;
}

static int inbox_mark(Inbox *self)
{
    if (self->mark_count >= self->mark_capacity) {
        Py_ssize_t capacity = self->mark_capacity ? 2 * self->mark_capacity : 1024;
        uint32_t *marks = PyMem_Realloc(self->marks, (size_t)capacity * sizeof(uint32_t));
        if (marks == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->marks = marks;
        self->mark_capacity = capacity;
    }
    self->marks[self->mark_count++] = (uint32_t)rows_waiting(self->outbox);
    return 0;
}

/* Looks up the head of the next row; -1 with an error set. */
static int inbox_choose_head(Inbox *self)
{
    Py_ssize_t index = self->which[self->next];
    if (index >= PyTuple_GET_SIZE(self->heads)) {
        PyErr_Format(PyExc_IndexError, "row %zd has head %zd of %zd", self->next, index, PyTuple_GET_SIZE(self->heads));
        return -1;
    }
    return inbox_use_head(self, PyTuple_GET_ITEM(self->heads, index));
}

/* The index in a head of the indexes of the fields that are the key of the component's state; None, and none at all: it has no
 * key. */
enum { KEY_OF_HEAD = 6 };

/* Lets state be that of a row. */
static void inbox_enter(Inbox *self, PyObject *row)
{
    PyObject *head = self->head, *key = NULL;
    if (PyTuple_GET_SIZE(head) > KEY_OF_HEAD && PyTuple_Check(PyTuple_GET_ITEM(head, KEY_OF_HEAD)))
        key = Py_NewRef(PyTuple_GET_ITEM(head, KEY_OF_HEAD));
    scope_enter(self->scope, Py_NewRef(row), key);
}

/* Lets go of the records that could be used again, with what their rows hold. */
static PyObject *inbox_pause(Inbox *self)
{
    if (self->scope != NULL)
        scope_enter(self->scope, NULL, NULL);
    if (self->outbox != NULL)
        rows_give(self->outbox, NULL, NULL, 0);
    Py_CLEAR(self->spare[0]);
    Py_CLEAR(self->spare[1]);
    return NULL;
}

/* Goes on to the next row that is there, and counts those before it whose place None has: 1, or 0 if there is none, or -1
 * with an error set. */
static int inbox_find_row(Inbox *self)
{
    for (;;) {
        while (self->next >= self->stop) {
            int opened = inbox_open_piece(self);
            if (opened <= 0)
                return opened;
        }
        if (self->next >= PyList_GET_SIZE(self->rows) || PyList_GET_ITEM(self->rows, self->next) != Py_None)
            return 1;
        self->next++;
        self->handed++;
        if (self->outbox != NULL && inbox_mark(self))
            return -1;
    }
}

static PyObject *inbox_next(Inbox *self)
{
    if (self->open && self->outbox != NULL && inbox_mark(self))
        return NULL;
    self->open = 0;
    self->paused = self->outbox != NULL && rows_waiting(self->outbox) >= self->pause_at;
    if (self->paused)
        return inbox_pause(self);
    if (inbox_find_row(self) <= 0)
        return inbox_pause(self);
    self->open = 1;
    if (self->which != NULL && inbox_choose_head(self)) {
        self->next++;
        return NULL;
    }
    PyObject *row = self->next < PyList_GET_SIZE(self->rows) ? PyList_GET_ITEM(self->rows, self->next) : NULL;
    self->next++;
    if (row == NULL || !PyTuple_Check(row)) {
        PyErr_SetString(PyExc_TypeError, "the rows of an Inbox must stay tuples while they are read");
        return NULL;
    }
    Py_INCREF(row); /* what a record before it held may run code that takes it out of the rows */
    if (self->scope != NULL)
        inbox_enter(self, row);
    PyObject *record = rows_record(self, row);
    Py_DECREF(row);
    self->handed += record != NULL;
    return record;
}

PyDoc_STRVAR(inbox_cut_doc,
             "cut() -> marks: the length of the outbox after each record since the last cut, as native uint32 bytes.\n"
             "A record still being processed is included as far as it has come, and once more in the next cut.");

static PyObject *inbox_cut(Inbox *self, PyObject *ignored)
{
    (void)ignored;
    int marked = self->open && self->outbox != NULL;
    if (marked && inbox_mark(self))
        return NULL;
    PyObject *marks = PyBytes_FromStringAndSize((char *)self->marks, self->mark_count * (Py_ssize_t)sizeof(uint32_t));
    if (marks != NULL)
        self->mark_count = 0;
    else
        self->mark_count -= marked; /* it is marked again next time */
    return marks;
}

static PyObject *inbox_open(Inbox *self, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(self->open);
}

static PyObject *inbox_paused(Inbox *self, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(self->paused);
}

static PyObject *inbox_handed(Inbox *self, void *ignored)
{
    (void)ignored;
    return PyLong_FromSsize_t(self->handed);
}

static PyObject *inbox_last_id(Inbox *self, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(self->last_id);
}

static PyObject *inbox_self(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static PyMethodDef inbox_methods[] = {
    {"load", (PyCFunction)inbox_load, METH_O, inbox_load_doc},
    {"cut", (PyCFunction)inbox_cut, METH_NOARGS, inbox_cut_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef inbox_getset[] = {
    {"open", (getter)inbox_open, NULL, "Whether a record is being processed.", NULL},
    {"paused", (getter)inbox_paused, NULL,
     "Whether iteration ended because the outbox is full; once it has been emptied, it goes on.", NULL},
    {"handed", (getter)inbox_handed, NULL, "Records handed out since the last load.", NULL},
    {"last_id", (getter)inbox_last_id, NULL, "Number of the id of the record handed out last; 0 before the first.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int rows_is_inbox(PyObject *candidate)
{
    return Py_TYPE(candidate)->tp_iternext == (iternextfunc)inbox_next;
}

static PyType_Slot inbox_slots[] = {
    {Py_tp_doc, "Inbox(record, outbox, pause_at, scope=None): the records that a component is about to process.\n"
                "Iteration pauses between two records once the outbox holds `pause_at` rows. The scope, if there is one,\n"
                "is told of each record's row before it is handed out, with the key that its head has at index 6."},
    {Py_tp_new, inbox_new},
    {Py_tp_dealloc, inbox_dealloc},
    {Py_tp_traverse, inbox_traverse},
    {Py_tp_clear, inbox_clear},
    {Py_tp_iter, inbox_self},
    {Py_tp_iternext, inbox_next},
    {Py_tp_methods, inbox_methods},
    {Py_tp_getset, inbox_getset},
    {0, NULL},
};

PyType_Spec rows_inbox_spec = {
    "viper._rows.Inbox", sizeof(Inbox), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, inbox_slots};
