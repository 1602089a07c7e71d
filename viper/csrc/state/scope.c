/* The tuple in process: its key, made when it is asked for first, and the way back to before the tuple. */
#include "state.h"

int is_scope(PyObject *candidate)
{
    return PyType_GetSlot(Py_TYPE(candidate), Py_tp_new) == rows_scope_spec.slots[0].pfunc;
}

/* The only one of some indexes; -1 where there are several, or it is none, which `key_of_row` says. */
static Py_ssize_t only_index(PyObject *indexes)
{
    Py_ssize_t index = PyTuple_GET_SIZE(indexes) == 1 ? PyLong_AsSsize_t(PyTuple_GET_ITEM(indexes, 0)) : -1;
    if (index == -1 && PyErr_Occurred())
        PyErr_Clear();
    return index;
}

void scope_enter(Scope *scope, PyObject *row, PyObject *indexes)
{
    PyObject *row_before = scope->row, *indexes_before = scope->indexes;
    if (indexes != indexes_before && indexes != NULL)
        scope->field = only_index(indexes);
    scope->row = row;
    scope->indexes = indexes;
    scope->number++;
    scope->begun = vp_writer_savepoint(scope->writer);
    Py_XDECREF(row_before);
    Py_XDECREF(indexes_before);
}

const Key *scope_key(Scope *scope)
{
    if (scope->known == scope->number)
        return &scope->key;
    if (scope->row == NULL || scope->indexes == NULL) {
        PyErr_SetString(PyExc_LookupError,
                        scope->row == NULL ? "state by key is there while a tuple is processed"
                                           : "the stream of this tuple has no fields grouping, which would say its key");
        return NULL;
    }
    int is_single = scope->field >= 0 && scope->field < PyTuple_GET_SIZE(scope->row);
    if (is_single ? key_of_value(&scope->key, PyTuple_GET_ITEM(scope->row, scope->field), &scope->rare)
                  : key_of_row(&scope->key, scope->row, scope->indexes, &scope->rare))
        return NULL;
    scope->known = scope->number;
    return &scope->key;
}

PyDoc_STRVAR(enter_doc, "enter(row, indexes): go on to a tuple whose key is in the fields with these indexes; None: it has none.");

static PyObject *enter(Scope *self, PyObject *args)
{
    PyObject *row, *indexes;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &row, &indexes))
        return NULL;
    if (indexes != Py_None && !PyTuple_Check(indexes)) {
        PyErr_SetString(PyExc_TypeError, "the indexes of a key are a tuple, or None");
        return NULL;
    }
    scope_enter(self, Py_NewRef(row), indexes == Py_None ? NULL : Py_NewRef(indexes));
    Py_RETURN_NONE;
}

PyDoc_STRVAR(leave_doc, "leave(): no tuple is in process any more.");

static PyObject *leave(Scope *self, PyObject *nothing)
{
    (void)nothing;
    scope_enter(self, NULL, NULL);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(back_doc, "back(): take back what the tuple in process has changed.");

static PyObject *back(Scope *self, PyObject *nothing)
{
    (void)nothing;
    vp_writer_back(self->writer, self->begun);
    self->number++;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(key_doc, "The key of the tuple in process, as its row has it.");

static PyObject *key(Scope *self, void *nothing)
{
    (void)nothing;
    const Key *found = scope_key(self);
    return found == NULL ? NULL : Py_NewRef(found->value);
}

static PyObject *scope_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    PyObject *owner, *hash, *canonical, *writer;
    if (options != NULL && PyDict_GET_SIZE(options)) {
        PyErr_SetString(PyExc_TypeError, "Scope() takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OO!OO", &owner, &PyLong_Type, &writer, &hash, &canonical))
        return NULL;
    void *address = PyLong_AsVoidPtr(writer);
    if (address == NULL && PyErr_Occurred())
        return NULL;
    Scope *self = (Scope *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->writer = address;
    self->owner = Py_NewRef(owner);
    self->number = 1; /* no key is known */
    self->rare = (Rare){Py_NewRef(hash), Py_NewRef(canonical)};
    return (PyObject *)self;
}

static int scope_traverse(Scope *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->owner);
    Py_VISIT(self->rare.hash);
    Py_VISIT(self->rare.canonical);
    Py_VISIT(self->row);
    Py_VISIT(self->indexes);
    Py_VISIT(self->key.value);
    return 0;
}

static int scope_clear(Scope *self)
{
    Py_CLEAR(self->rare.hash);
    Py_CLEAR(self->rare.canonical);
    Py_CLEAR(self->row);
    Py_CLEAR(self->indexes);
    key_clear(&self->key);
    Py_CLEAR(self->owner);
    return 0;
}

static void scope_dealloc(Scope *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    scope_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyDoc_STRVAR(renew_doc, "renew(): have rows looked for anew, as they may have gone back with those of another scope.");

static PyObject *renew(Scope *self, PyObject *nothing)
{
    (void)nothing;
    self->number++;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(row_doc, "The row of the tuple in process; None: there is none.");

static PyObject *row(Scope *self, void *nothing)
{
    (void)nothing;
    return Py_NewRef(self->row == NULL ? Py_None : self->row);
}

PyDoc_STRVAR(number_doc, "A number that is another one for each tuple.");

static PyObject *number(Scope *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromUnsignedLongLong(self->number);
}

PyDoc_STRVAR(token_doc, "Bytes that are the same for equal keys, and for no others.");

static PyObject *token(Scope *self, void *nothing)
{
    (void)nothing;
    const Key *found = scope_key(self);
    return found == NULL ? NULL : PyBytes_FromStringAndSize((const char *)found->bytes, (Py_ssize_t)found->length);
}

static PyMethodDef scope_methods[] = {
    {"enter", (PyCFunction)enter, METH_VARARGS, enter_doc},
    {"leave", (PyCFunction)leave, METH_NOARGS, leave_doc},
    {"back", (PyCFunction)back, METH_NOARGS, back_doc},
    {"renew", (PyCFunction)renew, METH_NOARGS, renew_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef scope_getset[] = {
    {"key", (getter)key, NULL, key_doc, NULL},
    {"token", (getter)token, NULL, token_doc, NULL},
    {"number", (getter)number, NULL, number_doc, NULL},
    {"row", (getter)row, NULL, row_doc, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot scope_slots[] = {
    {Py_tp_new, scope_new}, /* first: see is_scope */
    {Py_tp_doc, "Scope(owner, writer, hash_of_rare, canonical_of_rare): the tuple in process, and its key."},
    {Py_tp_dealloc, scope_dealloc},
    {Py_tp_traverse, scope_traverse},
    {Py_tp_clear, scope_clear},
    {Py_tp_methods, scope_methods},
    {Py_tp_getset, scope_getset},
    {0, NULL},
};

PyType_Spec rows_scope_spec = {"viper._rows.Scope", sizeof(Scope), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                               scope_slots};
