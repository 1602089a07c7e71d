/* Records: what a component receives of a row.
 *
 * Hardly any component keeps its tuples. So the record of the last tuple but one, its id and its named values are written
 * anew where nobody else has them, as `zip` does with its tuples: a record of three values takes a third of the time that way
 * (82 against 235 ns, on a busy machine). Who keeps one of them has it for good.
 */
#include "inbox.h"

#include <string.h>

int rows_is_bare(PyTypeObject *type)
{
    /* From 3.12 on the attributes of an object lie before it and add nothing to its size. */
    return type->tp_basicsize == PyTuple_Type.tp_basicsize && type->tp_dictoffset == 0 && type->tp_finalize == NULL &&
           type->tp_del == NULL;
}

/* Whether nobody but the caller has an object; free threads cannot tell. */
static int is_mine(PyObject *object)
{
#ifdef Py_GIL_DISABLED
    (void)object;
    return 0;
#else
    return Py_REFCNT(object) == 1;
#endif
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
    Py_ssize_t size = PyTuple_GET_SIZE(row) - self->beside;
    if (self->values == NULL)
        return self->beside ? PyTuple_GetSlice(row, 0, size) : Py_NewRef(row);
    Py_INCREF(row);
    PyObject *values = unhashed(self->values->tp_alloc(self->values, size));
    for (Py_ssize_t i = 0; values != NULL && i < size; i++) {
        PyObject *value = PyTuple_GET_ITEM(row, i);
        Py_INCREF(value);
        PyTuple_SET_ITEM(values, i, value);
    }
    Py_DECREF(row);
    return values;
}

/* A number in digits, written into the text of the one before if nobody else has that. PyUnicode_FromFormat costs four
 * times as much as a new text, once per tuple. */
static PyObject *decimal(uint64_t number, PyObject *before)
{
    char digits[20], *first = digits + sizeof(digits);
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    Py_ssize_t length = digits + sizeof(digits) - first;
    int fits = before != NULL && is_mine(before) && !PyUnicode_CHECK_INTERNED(before);
    fits = fits && PyUnicode_GET_LENGTH(before) == length;
    PyObject *text = fits ? Py_NewRef(before) : PyUnicode_New(length, 127);
    if (text == NULL)
        return NULL;
    memcpy(PyUnicode_1BYTE_DATA(text), first, (size_t)length);
    ((PyASCIIObject *)text)->hash = -1;
    return text;
}

/* Puts another item (whose reference is taken over) into a tuple that nobody else has. */
static void set_item(PyObject *tuple, Py_ssize_t index, PyObject *item)
{
    PyObject *before = PyTuple_GET_ITEM(tuple, index);
    PyTuple_SET_ITEM(tuple, index, item);
    Py_XDECREF(before);
}

/* The values of a row, in the tuple that had those of the record before if nobody else has that. */
static PyObject *next_values(Inbox *self, PyObject *row, PyObject *before)
{
    Py_ssize_t size = PyTuple_GET_SIZE(row) - self->beside;
    if (before == NULL || self->values == NULL || Py_TYPE(before) != self->values || !is_mine(before) ||
        PyTuple_GET_SIZE(before) != size || !rows_is_bare(self->values))
        return named_values(self, row);
    PyObject *values = unhashed(Py_NewRef(before));
    for (Py_ssize_t i = 0; i < size; i++)
        set_item(values, i, Py_NewRef(PyTuple_GET_ITEM(row, i)));
    return values;
}

/* A record whose items can be set: the one before the last if nobody else has it any more, as a loop still holds the last. */
static PyObject *inbox_blank(Inbox *self)
{
    PyObject *record = self->spare[self->last_id & 1];
    self->spare[self->last_id & 1] = NULL; /* what is let go below may run code that asks for a record */
    if (record != NULL && is_mine(record))
        return unhashed(record);
    Py_XDECREF(record);
    return unhashed(self->record->tp_alloc(self->record, 5));
}

/* Has the outbox know of values that are about to be handed out, so that it need not copy them. */
static void give(Inbox *self, PyObject *values, PyObject *row)
{
    if (values != row && self->beside == 0 && self->reuses && PyTuple_CheckExact(row))
        rows_give(self->outbox, values, row, self->is_sealed);
    else if (self->outbox->given != NULL)
        rows_give(self->outbox, NULL, NULL, 0);
}

PyObject *rows_record(Inbox *self, PyObject *row)
{
    if (self->beside < 0 || self->beside > PyTuple_GET_SIZE(row)) {
        PyErr_Format(PyExc_ValueError, "%zd of %zd values are not the stream's", self->beside, PyTuple_GET_SIZE(row));
        return NULL;
    }
    uint64_t number = ++self->last_id;
    PyObject *head = Py_NewRef(self->head), *record = inbox_blank(self);
    PyObject *values = record == NULL ? NULL : next_values(self, row, PyTuple_GET_ITEM(record, 4));
    PyObject *id = values == NULL ? NULL : decimal(number, PyTuple_GET_ITEM(record, 0));
    if (id == NULL) {
        Py_XDECREF(values);
        Py_CLEAR(record);
    } else {
        set_item(record, 0, id);
        for (Py_ssize_t i = 0; i < 3; i++)
            set_item(record, i + 1, Py_NewRef(PyTuple_GET_ITEM(head, i)));
        set_item(record, 4, values);
        if (self->outbox != NULL)
            give(self, values, row);
        if (self->reuses)
            Py_XSETREF(self->spare[number & 1], Py_NewRef(record));
    }
    Py_DECREF(head);
    return record;
}
