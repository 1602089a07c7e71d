/* What a component receives. */
#include "rows.h"

#include <string.h>

typedef struct {
    PyObject_HEAD
    PyTypeObject *record; /* a named tuple of (id, component, stream, task, values) */
    Outbox *outbox;       /* whose length is noted after each record; NULL: nothing is emitted */
    PyObject *pieces;     /* list of (rows, first, count, head) */
    Py_ssize_t next_piece;
    PyObject *piece;      /* the one that is read now; what follows is borrowed from it */
    PyObject *rows;
    PyObject *head;       /* (component, stream, task, values class or None, ...) */
    PyTypeObject *values; /* NULL: the plain row */
    Py_ssize_t next, stop;
    uint64_t last_id;     /* number of the latest record's id */
    Py_ssize_t handed;    /* records since the last load */
    uint32_t *marks; /* length of the outbox after each record since the last cut */
    Py_ssize_t mark_count, mark_capacity;
    Py_ssize_t pause_at; /* length of the outbox at which reading pauses between two records */
    int open;            /* whether a record is out whose mark is not noted yet */
    int paused;          /* whether the last iteration ended for a full outbox, with records left */
} Inbox;

static int inbox_traverse(Inbox *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->record);
    Py_VISIT(self->outbox);
    Py_VISIT(self->pieces);
    Py_VISIT(self->piece);
    return 0;
}

static int inbox_clear(Inbox *self)
{
    Py_CLEAR(self->record);
    Py_CLEAR(self->outbox);
    Py_CLEAR(self->pieces);
    Py_CLEAR(self->piece);
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
    static char *keywords[] = {"record", "outbox", "pause_at", NULL};
    PyObject *record, *outbox;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOn", keywords, &record, &outbox, &self->pause_at))
        return -1;
    if (!is_tuple_type(record) || (outbox != Py_None && !rows_is_outbox(outbox))) {
        PyErr_SetString(PyExc_TypeError, "an Inbox is made of a named tuple class and an Outbox or None");
        return -1;
    }
    self->record = (PyTypeObject *)Py_NewRef(record);
    if (outbox != Py_None)
        self->outbox = (Outbox *)Py_NewRef(outbox);
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
             "rows[first:first + count], with a head of (component, stream, task, values, ...): which task of which\n"
             "component emitted them on which stream, and the named tuple class of their values or None.\n"
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

/* Reads the current piece; -1 with an error set. */
static int inbox_read_piece(Inbox *self)
{
    Py_ssize_t first, count;
    PyObject *rows, *head, *values;
    if (!PyTuple_Check(self->piece)) {
        PyErr_SetString(PyExc_TypeError, "a piece is a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(self->piece, "O!nnO!", &PyList_Type, &rows, &first, &count, &PyTuple_Type, &head))
        return -1;
    if (first < 0 || count < 0 || count > PyList_GET_SIZE(rows) - first || PyTuple_GET_SIZE(head) < 4) {
        PyErr_Format(PyExc_ValueError, "no piece: %zd rows from %zd on, of %zd, with a head of %zd", count, first,
                     PyList_GET_SIZE(rows), PyTuple_GET_SIZE(head));
        return -1;
    }
    values = PyTuple_GET_ITEM(head, 3);
    if (values != Py_None && !is_tuple_type(values)) {
        PyErr_SetString(PyExc_TypeError, "the values of a piece need a tuple class or None");
        return -1;
    }
    self->rows = rows;
    self->head = head;
    self->values = values == Py_None ? NULL : (PyTypeObject *)values;
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

/* From 3.14 on a tuple remembers its hash, and what tp_alloc leaves there would be taken for one. */
static PyObject *unhashed(PyObject *tuple)
{
#if PY_VERSION_HEX >= 0x030E0000
    if (tuple != NULL)
        ((PyTupleObject *)tuple)->ob_hash = -1;
#endif
    return tuple;
}

static PyObject *named_values(Inbox *self, PyObject *row)
{
    Py_INCREF(row);
    if (self->values == NULL)
        return row;
    Py_ssize_t size = PyTuple_GET_SIZE(row);
    PyObject *values = unhashed(self->values->tp_alloc(self->values, size));
    for (Py_ssize_t i = 0; values != NULL && i < size; i++) {
        PyObject *value = PyTuple_GET_ITEM(row, i);
        Py_INCREF(value);
        PyTuple_SET_ITEM(values, i, value);
    }
    Py_DECREF(row);
    return values;
}

/* PyUnicode_FromFormat costs four times as much, once per tuple. */
static PyObject *decimal(uint64_t number)
{
    char digits[20], *first = digits + sizeof(digits);
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    Py_ssize_t length = digits + sizeof(digits) - first;
    PyObject *text = PyUnicode_New(length, 127);
    if (text != NULL)
        memcpy(PyUnicode_1BYTE_DATA(text), first, (size_t)length);
    return text;
}

static PyObject *inbox_next(Inbox *self)
{
    if (self->open && self->outbox != NULL && inbox_mark(self))
        return NULL;
    self->open = 0;
    self->paused = self->outbox != NULL && rows_waiting(self->outbox) >= self->pause_at;
    if (self->paused)
        return NULL;
    while (self->next >= self->stop)
        if (inbox_open_piece(self) <= 0)
            return NULL;
    self->open = 1;
    PyObject *row = self->next < PyList_GET_SIZE(self->rows) ? PyList_GET_ITEM(self->rows, self->next) : NULL;
    self->next++;
    if (row == NULL || !PyTuple_Check(row)) {
        PyErr_SetString(PyExc_TypeError, "the rows of an Inbox must stay tuples while they are read");
        return NULL;
    }
    PyObject *values = named_values(self, row);
    PyObject *id = values == NULL ? NULL : decimal(++self->last_id);
    PyObject *record = id == NULL ? NULL : unhashed(self->record->tp_alloc(self->record, 5));
    if (record == NULL) {
        Py_XDECREF(values);
        Py_XDECREF(id);
        return NULL;
    }
    PyTuple_SET_ITEM(record, 0, id);
    for (Py_ssize_t i = 0; i < 3; i++) {
        PyObject *shared = PyTuple_GET_ITEM(self->head, i);
        Py_INCREF(shared);
        PyTuple_SET_ITEM(record, i + 1, shared);
    }
    PyTuple_SET_ITEM(record, 4, values);
    self->handed++;
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

static PyType_Slot inbox_slots[] = {
    {Py_tp_doc, "Inbox(record, outbox, pause_at): the records that a component is about to process. Iteration\n"
                "pauses between two records once the outbox holds `pause_at` rows."},
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
