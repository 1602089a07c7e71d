/* What a component emits. */
#include "rows.h"

#include <time.h>

static int outbox_traverse(Outbox *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->rows);
    Py_VISIT(self->notes);
    Py_VISIT(self->names);
    Py_VISIT(self->slow);
    Py_VISIT(self->on_full);
    Py_VISIT(self->on_row);
    Py_VISIT(self->given);
    Py_VISIT(self->given_row);
    return 0;
}

static int outbox_clear(Outbox *self)
{
    Py_CLEAR(self->rows);
    Py_CLEAR(self->notes);
    Py_CLEAR(self->names);
    Py_CLEAR(self->slow);
    Py_CLEAR(self->on_full);
    Py_CLEAR(self->on_row);
    Py_CLEAR(self->given);
    Py_CLEAR(self->given_row);
    return 0;
}

static void outbox_dealloc(Outbox *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    outbox_clear(self);
    for (Py_ssize_t i = 0; self->ports != NULL && i < self->port_count; i++)
        Py_XDECREF(self->ports[i].codes);
    PyMem_Free(self->ports);
    PyMem_Free(self->tags);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static int outbox_add_port(Outbox *self, Py_ssize_t index, PyObject *declared)
{
    PyObject *name, *number;
    Port *port = &self->ports[index];
    if (!PyTuple_Check(declared) || PyTuple_GET_SIZE(declared) < 3) {
        PyErr_Format(PyExc_TypeError, "a port is (name, arity, keep) or (name, arity, keep, codes), found %R", declared);
        return -1;
    }
    if (!PyArg_ParseTuple(declared, "Unp|S", &name, &port->arity, &port->keep, &port->codes))
        return -1;
    Py_XINCREF(port->codes);
    if (PyUnicode_CompareWithASCIIString(name, "default") == 0)
        self->default_port = index;
    number = PyLong_FromSsize_t(index);
    if (number == NULL)
        return -1;
    int failed = PyDict_SetItem(self->names, name, number);
    Py_DECREF(number);
    return failed;
}

static int outbox_set_up(Outbox *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"ports", "slow", "on_full", "limit", "takes_ids", NULL};
    PyObject *ports, *slow, *on_full;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OOn|p", keywords, &PyTuple_Type, &ports, &slow, &on_full,
                                     &self->limit, &self->takes_ids))
        return -1;
    if (PyTuple_GET_SIZE(ports) > UINT16_MAX || self->limit < 1) {
        PyErr_SetString(PyExc_ValueError, "an Outbox has up to 65,535 ports and a limit of 1 or more");
        return -1;
    }
    self->port_count = PyTuple_GET_SIZE(ports);
    self->default_port = -1;
    self->slow = Py_NewRef(slow);
    self->on_full = Py_NewRef(on_full);
    self->rows = PyList_New(0);
    self->names = PyDict_New();
    self->ports = PyMem_Calloc((size_t)self->port_count + 1, sizeof(Port));
    if (self->rows == NULL || self->names == NULL || self->ports == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < self->port_count; i++)
        if (outbox_add_port(self, i, PyTuple_GET_ITEM(ports, i)))
            return -1;
    return 0;
}

/* In tp_new, so that there is no outbox that has not been set up. */
static PyObject *outbox_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Outbox *self = (Outbox *)type->tp_alloc(type, 0);
    if (self != NULL && outbox_set_up(self, args, kwargs))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int outbox_tag(Outbox *self, Py_ssize_t port)
{
    Py_ssize_t size = PyList_GET_SIZE(self->rows);
    if (size >= self->tag_capacity) {
        Py_ssize_t capacity = size < 512 ? 1024 : 2 * size;
        uint16_t *tags = PyMem_Realloc(self->tags, (size_t)capacity * sizeof(uint16_t));
        if (tags == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->tags = tags;
        self->tag_capacity = capacity;
    }
    self->tags[size] = (uint16_t)port;
    return 0;
}

/* A pair for a note, and a list for it. Both may run finalizers that emit or take, so they come before
 * anything is said of the row's index; NULL with an error set. */
static PyObject *outbox_pair(Outbox *self, PyObject *note)
{
    PyObject *pair = PyTuple_New(2);
    if (pair == NULL)
        return NULL;
    PyTuple_SET_ITEM(pair, 1, Py_NewRef(note));
    if (self->notes == NULL) {
        PyObject *fresh = PyList_New(0);
        if (self->notes == NULL)
            self->notes = fresh;
        else
            Py_XDECREF(fresh);
    }
    if (self->notes == NULL)
        Py_CLEAR(pair);
    return pair;
}

/* Notes something of the row that comes next; takes the pair over. -1 with an error set. */
static int outbox_note(Outbox *self, PyObject *pair)
{
    PyObject *index = PyLong_FromSsize_t(PyList_GET_SIZE(self->rows));
    PyTuple_SET_ITEM(pair, 0, index);
    int failed = index == NULL || PyList_Append(self->notes, pair);
    Py_DECREF(pair);
    return failed ? -1 : 0;
}

/* Takes the note of a row back that did not come, for want of memory. */
static void outbox_unnote(Outbox *self)
{
    Py_ssize_t size = PyList_GET_SIZE(self->notes);
    PyErr_Clear();
    PyList_SetSlice(self->notes, size - 1, size, NULL);
    PyErr_NoMemory();
}

/* Appends a row with what is noted of it, if anything; -1 with an error set. */
static int outbox_keep(Outbox *self, Py_ssize_t port, PyObject *row, PyObject *note)
{
    PyObject *pair = note == NULL ? NULL : outbox_pair(self, note);
    if (note != NULL && pair == NULL)
        return -1;
    if (self->port_count > 1 && outbox_tag(self, port)) {
        Py_XDECREF(pair);
        return -1;
    }
    if (pair != NULL && outbox_note(self, pair))
        return -1;
    if (PyList_Append(self->rows, row) == 0)
        return 0;
    if (pair != NULL)
        outbox_unnote(self);
    return -1;
}

/* Calls a function without arguments; -1 with an error set. */
static int call_it(PyObject *function)
{
    PyObject *result = PyObject_CallObject(function, NULL);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* Calls `on_row`, unless the calling thread is the silent one; -1 with an error set. */
static int outbox_tell(Outbox *self)
{
    return PyThread_get_thread_ident() == self->silent_thread ? 0 : call_it(self->on_row);
}

/* Likewise to any port; the reference to the row is taken over. */
static int outbox_put(Outbox *self, Py_ssize_t port, PyObject *row, PyObject *note)
{
    int failed = 0;
    if (!self->ports[port].keep)
        self->discarded++;
    else
        failed = outbox_keep(self, port, row, note);
    Py_DECREF(row);
    if (failed || !self->ports[port].keep)
        return failed ? -1 : 0;
    if (self->on_row != NULL && outbox_tell(self))
        return -1;
    return PyList_GET_SIZE(self->rows) < self->limit ? 0 : call_it(self->on_full);
}

/* The port of a stream, or -1 where the slow path has to find out. */
static Py_ssize_t outbox_port(Outbox *self, PyObject *stream)
{
    if (stream == NULL)
        return self->default_port;
    if (!PyUnicode_Check(stream))
        return -1;
    PyObject *number = PyDict_GetItemWithError(self->names, stream);
    return number == NULL ? -1 : PyLong_AsSsize_t(number);
}

/* What a common call says beside the values; false where the slow path has to find out. */
static int outbox_read(Outbox *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords, PyObject **stream,
                       PyObject **id)
{
    if (count < 1 || count > 1 + self->takes_ids)
        return 0;
    if (count == 2)
        *id = args[1];
    for (Py_ssize_t i = 0; keywords != NULL && i < PyTuple_GET_SIZE(keywords); i++) {
        PyObject *name = PyTuple_GET_ITEM(keywords, i);
        if (PyUnicode_CompareWithASCIIString(name, "stream") == 0)
            *stream = args[count + i];
        else if (self->takes_ids && *id == NULL && PyUnicode_CompareWithASCIIString(name, "tup_id") == 0)
            *id = args[count + i];
        else
            return 0;
    }
    if (*id == Py_None)
        *id = NULL;
    return 1;
}

/* The port that a call means, and its id or NULL, or -1 where the slow path has to find out. */
static Py_ssize_t outbox_meant(Outbox *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords, PyObject **id)
{
    PyObject *stream = NULL;
    if (!outbox_read(self, args, count, keywords, &stream, id))
        return -1;
    Py_ssize_t port = outbox_port(self, stream);
    /* What nobody gets is acked at once, by the slow path. */
    return port >= 0 && *id != NULL && !self->ports[port].keep ? -1 : port;
}

static PyObject *outbox_slow(Outbox *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    PyObject *positional = PyTuple_New(count), *options = PyDict_New(), *result = NULL;
    if (positional == NULL || options == NULL)
        goto done;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_INCREF(args[i]);
        PyTuple_SET_ITEM(positional, i, args[i]);
    }
    for (Py_ssize_t i = 0; keywords != NULL && i < PyTuple_GET_SIZE(keywords); i++)
        if (PyDict_SetItem(options, PyTuple_GET_ITEM(keywords, i), args[count + i]))
            goto done;
    result = PyObject_Call(self->slow, positional, options);
done:
    Py_XDECREF(positional);
    Py_XDECREF(options);
    return result;
}

/* The row that arrives of values, or NULL where the slow path has to make it, or with an error set. */
static PyObject *outbox_row(Outbox *self, PyObject *values, Py_ssize_t arity)
{
    if (values != self->given)
        return rows_plain_row(values, arity);
    PyObject *row = self->given_row;
    if (self->is_given_sealed && (arity < 0 || PyTuple_GET_SIZE(row) == arity))
        return Py_NewRef(row);
    return rows_plain_row(row, arity);
}

PyDoc_STRVAR(outbox_emit_doc, "emit(values, tup_id=None, *, stream='default', ...): append one row; all but the common\n"
                              "case goes to `slow`, as does an id where the outbox takes none or nobody subscribes.");

static PyObject *outbox_emit(Outbox *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    PyObject *row = NULL, *id = NULL;
    Py_ssize_t port = outbox_meant(self, args, count, keywords, &id);
    int failed;
    if (port >= 0) {
        Py_BEGIN_CRITICAL_SECTION(args[0]);
        row = rows_fitting(outbox_row(self, args[0], self->ports[port].arity), self->ports[port].codes);
        Py_END_CRITICAL_SECTION();
    }
    if (row == NULL)
        return PyErr_Occurred() ? NULL : outbox_slow(self, args, count, keywords);
    Py_BEGIN_CRITICAL_SECTION(self);
    failed = outbox_put(self, port, row, id);
    Py_END_CRITICAL_SECTION();
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(outbox_append_doc, "append(port, row, note=None): append a row tuple that has been checked already,\n"
                                "with anything to note of it.");

static PyObject *outbox_append(Outbox *self, PyObject *args)
{
    Py_ssize_t port;
    PyObject *row, *note = Py_None;
    if (!PyArg_ParseTuple(args, "nO!|O", &port, &PyTuple_Type, &row, &note))
        return NULL;
    if (port < 0 || port >= self->port_count) {
        PyErr_Format(PyExc_IndexError, "no port %zd: there are %zd", port, self->port_count);
        return NULL;
    }
    int failed;
    Py_INCREF(row);
    Py_BEGIN_CRITICAL_SECTION(self);
    failed = outbox_put(self, port, row, note == Py_None ? NULL : note);
    Py_END_CRITICAL_SECTION();
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(outbox_watch_doc, "watch(silent_thread, call): call something after each single row that comes from\n"
                               "any thread but that one; 0 is none.");

static PyObject *outbox_watch(Outbox *self, PyObject *args)
{
    unsigned long thread;
    PyObject *call, *before;
    if (!PyArg_ParseTuple(args, "kO", &thread, &call))
        return NULL;
    Py_BEGIN_CRITICAL_SECTION(self);
    before = self->on_row;
    self->on_row = Py_NewRef(call);
    self->silent_thread = thread;
    Py_END_CRITICAL_SECTION();
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

/* -- drawing: what a generator yields, put here in one call */

PyDoc_STRVAR(outbox_draw_doc,
             "draw(values, count, seconds) -> (drawn, over, value): draw from an iterator and put on the default stream what\n"
             "the common emit would, for so many rows, so many seconds, or until the outbox is full. `over` says whether the\n"
             "iterator has ended; `value` is what it yielded last if that was not put, else None.");

enum { LOOK_EVERY = 16 };

/* How long drawing goes on. The clock is read for every sixteenth value only, as reading it costs more than all else. A
 * coarse clock, where there is one, costs a fifth of that, and is read for each: it shows a generator that takes its time. */
typedef struct {
    double until; /* seconds */
    long coarse;  /* nanoseconds of the coarse clock at the last look */
    int skipped;  /* values since then */
} Span;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Whether the coarse clock has ticked; always, where there is none. */
static int has_ticked(Span *span)
{
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int ticked = now.tv_nsec != span->coarse;
    span->coarse = now.tv_nsec;
    return ticked;
#else
    (void)span;
    return 1;
#endif
}

static int is_over(Span *span)
{
    if (!has_ticked(span) && ++span->skipped < LOOK_EVERY)
        return 0;
    span->skipped = 0;
    return seconds_now() >= span->until;
}

/* Puts what the common emit would put: 1, or 0 if that would leave it to Python, or -1 with an error set. */
static int outbox_draw_one(Outbox *self, PyObject *value)
{
    PyObject *row = NULL;
    if (value == Py_None)
        return 0;
    Py_BEGIN_CRITICAL_SECTION(value);
    row = rows_fitting(rows_plain_row(value, self->ports[self->default_port].arity), self->ports[self->default_port].codes);
    Py_END_CRITICAL_SECTION();
    if (row == NULL)
        return PyErr_Occurred() ? -1 : 0;
    int failed;
    Py_BEGIN_CRITICAL_SECTION(self);
    failed = outbox_put(self, self->default_port, row, NULL);
    Py_END_CRITICAL_SECTION();
    return failed ? -1 : 1;
}

/* Draws up to `count` values; the number of those that were put, or -1 with an error set. What comes last and was not
 * put is in `left`; there is nothing if the iterator has ended, which `over` says. */
static Py_ssize_t outbox_draw_all(Outbox *self, PyObject *values, Py_ssize_t count, Span *span, PyObject **left, int *over)
{
    iternextfunc next = Py_TYPE(values)->tp_iternext;
    for (Py_ssize_t drawn = 0; drawn < count;) {
        PyObject *value = next(values);
        if (value == NULL) {
            if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_StopIteration))
                return -1;
            PyErr_Clear();
            *over = 1;
            return drawn;
        }
        int put = self->default_port < 0 ? 0 : outbox_draw_one(self, value);
        if (put == 0) {
            *left = value;
            return drawn;
        }
        Py_DECREF(value);
        if (put < 0)
            return -1;
        if (++drawn == count || rows_waiting(self) >= self->limit || is_over(span))
            return drawn;
    }
    return 0;
}

static PyObject *outbox_draw(Outbox *self, PyObject *args)
{
    PyObject *values, *left = NULL;
    Py_ssize_t count;
    double seconds;
    int over = 0;
    if (!PyArg_ParseTuple(args, "Ond", &values, &count, &seconds))
        return NULL;
    if (!PyIter_Check(values)) {
        PyErr_Format(PyExc_TypeError, "an Outbox draws from an iterator, found %R", values);
        return NULL;
    }
    Span span = {.until = seconds_now() + seconds};
    has_ticked(&span); /* from now on */
    Py_ssize_t drawn = outbox_draw_all(self, values, count, &span, &left, &over);
    if (drawn < 0)
        return NULL;
    return Py_BuildValue("(nNN)", drawn, PyBool_FromLong(over), left == NULL ? Py_NewRef(Py_None) : left);
}

PyDoc_STRVAR(outbox_extend_doc, "extend(port, rows): append row tuples that have been checked already; `on_full` is not\n"
                                "called.");

/* Appends row tuples to a port that is kept; -1 with an error set. */
static int outbox_extend_by(Outbox *self, Py_ssize_t port, PyObject *rows)
{
    Py_ssize_t size = PyList_GET_SIZE(self->rows), count = PyList_GET_SIZE(rows);
    if (self->port_count == 1)
        return PyList_SetSlice(self->rows, size, size, rows);
    for (Py_ssize_t i = 0; i < count && i < PyList_GET_SIZE(rows); i++)
        if (outbox_keep(self, port, PyList_GET_ITEM(rows, i), NULL))
            return -1;
    return 0;
}

static PyObject *outbox_extend(Outbox *self, PyObject *args)
{
    Py_ssize_t port;
    PyObject *rows;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "nO!", &port, &PyList_Type, &rows))
        return NULL;
    if (port < 0 || port >= self->port_count) {
        PyErr_Format(PyExc_IndexError, "no port %zd: there are %zd", port, self->port_count);
        return NULL;
    }
    Py_BEGIN_CRITICAL_SECTION2(self, rows);
    if (self->ports[port].keep)
        failed = outbox_extend_by(self, port, rows);
    else
        self->discarded += (unsigned long long)PyList_GET_SIZE(rows);
    Py_END_CRITICAL_SECTION2();
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* -- taking */

PyDoc_STRVAR(outbox_take_doc, "take() -> (rows, tags, notes): all waiting rows, the port of each as native uint16\n"
                              "bytes (None where there is but one port), and a list of (index, note) for the rows\n"
                              "that have one (None where none has). The outbox is empty afterwards.");

static PyObject *outbox_take_all(Outbox *self)
{
    PyObject *tags, *fresh = PyList_New(0);
    if (fresh == NULL)
        return NULL;
    if (self->port_count > 1) {
        tags = PyBytes_FromStringAndSize((char *)self->tags, PyList_GET_SIZE(self->rows) * (Py_ssize_t)sizeof(uint16_t));
    } else {
        Py_INCREF(Py_None);
        tags = Py_None;
    }
    if (tags == NULL) {
        Py_DECREF(fresh);
        return NULL;
    }
    PyObject *rows = self->rows, *notes = self->notes;
    self->rows = fresh;
    self->notes = NULL;
    return Py_BuildValue("(NNN)", rows, tags, notes == NULL ? Py_NewRef(Py_None) : notes);
}

static PyObject *outbox_take(Outbox *self, PyObject *ignored)
{
    (void)ignored;
    PyObject *taken;
    Py_BEGIN_CRITICAL_SECTION(self);
    taken = outbox_take_all(self);
    Py_END_CRITICAL_SECTION();
    return taken;
}

static Py_ssize_t outbox_length(Outbox *self)
{
    return rows_waiting(self);
}

static PyObject *outbox_discarded(Outbox *self, void *ignored)
{
    (void)ignored;
    unsigned long long discarded;
    Py_BEGIN_CRITICAL_SECTION(self);
    discarded = self->discarded;
    Py_END_CRITICAL_SECTION();
    return PyLong_FromUnsignedLongLong(discarded);
}

static PyMethodDef outbox_methods[] = {
    {"emit", (PyCFunction)(void (*)(void))outbox_emit, METH_FASTCALL | METH_KEYWORDS, outbox_emit_doc},
    {"append", (PyCFunction)outbox_append, METH_VARARGS, outbox_append_doc},
    {"watch", (PyCFunction)outbox_watch, METH_VARARGS, outbox_watch_doc},
    {"draw", (PyCFunction)outbox_draw, METH_VARARGS, outbox_draw_doc},
    {"extend", (PyCFunction)outbox_extend, METH_VARARGS, outbox_extend_doc},
    {"take", (PyCFunction)outbox_take, METH_NOARGS, outbox_take_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef outbox_getset[] = {
    {"discarded", (getter)outbox_discarded, NULL, "Emits to ports that nobody subscribes to.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot outbox_slots[] = {
    {Py_tp_doc, "Outbox(ports, slow, on_full, limit, takes_ids=False): the rows that a component has emitted."},
    {Py_tp_new, outbox_new},
    {Py_tp_dealloc, outbox_dealloc},
    {Py_tp_traverse, outbox_traverse},
    {Py_tp_clear, outbox_clear},
    {Py_tp_methods, outbox_methods},
    {Py_tp_getset, outbox_getset},
    {Py_sq_length, outbox_length},
    {0, NULL},
};

PyType_Spec rows_outbox_spec = {
    "viper._rows.Outbox", sizeof(Outbox), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, outbox_slots};

int rows_is_outbox(PyObject *candidate)
{
    return PyType_GetSlot(Py_TYPE(candidate), Py_tp_new) == (void *)outbox_new;
}
