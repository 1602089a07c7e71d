/* What a component receives. */
#include "rows.h"

typedef struct {
    PyObject_HEAD
    PyTypeObject *record; /* a named tuple of (id, component, stream, task, values) */
    Outbox *outbox;       /* whose length is noted after each record; NULL: nothing is emitted */
    PyObject *rows, *component, *stream, *task;
    PyTypeObject *values; /* a named tuple for the values; NULL: the plain row */
    Py_ssize_t next, stop;
    uint64_t last_id;
    uint32_t *marks; /* length of the outbox after each record since the last cut */
    Py_ssize_t mark_count, mark_capacity;
    int open; /* whether a record is out whose mark is not noted yet */
} Inbox;

static int inbox_traverse(Inbox *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->record);
    Py_VISIT(self->outbox);
    Py_VISIT(self->rows);
    Py_VISIT(self->component);
    Py_VISIT(self->stream);
    Py_VISIT(self->task);
    Py_VISIT(self->values);
    return 0;
}

static int inbox_clear(Inbox *self)
{
    Py_CLEAR(self->record);
    Py_CLEAR(self->outbox);
    Py_CLEAR(self->rows);
    Py_CLEAR(self->component);
    Py_CLEAR(self->stream);
    Py_CLEAR(self->task);
    Py_CLEAR(self->values);
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

static int inbox_init(Inbox *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"record", "outbox", NULL};
    PyObject *record, *outbox;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO", keywords, &record, &outbox))
        return -1;
    if (!is_tuple_type(record) || self->record != NULL ||
        (outbox != Py_None && !rows_is_outbox(outbox))) {
        PyErr_SetString(PyExc_TypeError, "an Inbox is made once, of a named tuple class and an Outbox or None");
        return -1;
    }
    Py_INCREF(record);
    self->record = (PyTypeObject *)record;
    if (outbox != Py_None) {
        Py_INCREF(outbox);
        self->outbox = (Outbox *)outbox;
    }
    return 0;
}

static void replace(PyObject **field, PyObject *value)
{
    PyObject *before = *field;
    Py_XINCREF(value);
    *field = value;
    Py_XDECREF(before);
}

PyDoc_STRVAR(inbox_load_doc,
             "load(rows, first, count, component, stream, task, values): iterate next over rows[first:first + count],\n"
             "which that task of that component emitted on that stream; values is the named tuple class of their\n"
             "values, or None. Returns the inbox.");

static PyObject *inbox_load(Inbox *self, PyObject *args)
{
    PyObject *rows, *component, *stream, *task, *values;
    Py_ssize_t first, count;
    if (!PyArg_ParseTuple(args, "O!nnOOOO", &PyList_Type, &rows, &first, &count, &component, &stream, &task, &values))
        return NULL;
    if (first < 0 || count < 0 || count > PyList_Size(rows) - first || (values != Py_None && !is_tuple_type(values))) {
        PyErr_Format(PyExc_ValueError, "cannot load rows %zd to %zd of %zd", first, first + count, PyList_Size(rows));
        return NULL;
    }
    replace(&self->rows, rows);
    replace(&self->component, component);
    replace(&self->stream, stream);
    replace(&self->task, task);
    replace((PyObject **)&self->values, values == Py_None ? NULL : values);
    self->next = first;
    self->stop = first + count;
    PyObject *result = (PyObject *)self;
    Py_INCREF(result);
    return result;
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
    self->marks[self->mark_count++] = (uint32_t)PyList_Size(self->outbox->rows);
    return 0;
}

static PyObject *named_values(Inbox *self, PyObject *row)
{
    Py_INCREF(row);
    if (self->values == NULL)
        return row;
    Py_ssize_t size = PyTuple_Size(row);
    PyObject *values = PyType_GenericAlloc(self->values, size);
    for (Py_ssize_t i = 0; values != NULL && i < size; i++) {
        PyObject *value = PyTuple_GetItem(row, i);
        Py_INCREF(value);
        PyTuple_SetItem(values, i, value);
    }
    Py_DECREF(row);
    return values;
}

/* PyUnicode_FromFormat costs three times as much, once per tuple. */
static PyObject *decimal(uint64_t number)
{
    char digits[20], *first = digits + sizeof(digits);
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    return PyUnicode_FromStringAndSize(first, digits + sizeof(digits) - first);
}

static PyObject *inbox_next(Inbox *self)
{
    if (self->open && self->outbox != NULL && inbox_mark(self))
        return NULL;
    self->open = self->next < self->stop;
    if (!self->open)
        return NULL;
    PyObject *row = self->next < PyList_Size(self->rows) ? PyList_GetItem(self->rows, self->next) : NULL;
    self->next++;
    if (row == NULL || !PyTuple_Check(row)) {
        PyErr_SetString(PyExc_TypeError, "the rows of an Inbox must stay tuples while they are read");
        return NULL;
    }
    PyObject *values = named_values(self, row);
    PyObject *id = values == NULL ? NULL : decimal(++self->last_id);
    PyObject *record = id == NULL ? NULL : PyType_GenericAlloc(self->record, 5);
    if (record == NULL) {
        Py_XDECREF(values);
        Py_XDECREF(id);
        return NULL;
    }
    Py_INCREF(self->component);
    Py_INCREF(self->stream);
    Py_INCREF(self->task);
    PyTuple_SetItem(record, 0, id);
    PyTuple_SetItem(record, 1, self->component);
    PyTuple_SetItem(record, 2, self->stream);
    PyTuple_SetItem(record, 3, self->task);
    PyTuple_SetItem(record, 4, values);
    return record;
}

PyDoc_STRVAR(inbox_cut_doc,
             "cut() -> marks: the length of the outbox after each record since the last cut, as native uint32 bytes.\n"
             "A record still being processed is included as far as it has come, and once more in the next cut.");

static PyObject *inbox_cut(Inbox *self, PyObject *ignored)
{
    (void)ignored;
    if (self->open && self->outbox != NULL && inbox_mark(self))
        return NULL;
    PyObject *marks = PyBytes_FromStringAndSize((char *)self->marks, self->mark_count * (Py_ssize_t)sizeof(uint32_t));
    if (marks != NULL)
        self->mark_count = 0;
    return marks;
}

static PyObject *inbox_open(Inbox *self, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(self->open);
}

static PyObject *inbox_self(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static PyMethodDef inbox_methods[] = {
    {"load", (PyCFunction)inbox_load, METH_VARARGS, inbox_load_doc},
    {"cut", (PyCFunction)inbox_cut, METH_NOARGS, inbox_cut_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef inbox_getset[] = {
    {"open", (getter)inbox_open, NULL, "Whether a record is being processed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot inbox_slots[] = {
    {Py_tp_doc, "Inbox(record, outbox): the records that a component is about to process."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, inbox_init},
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
