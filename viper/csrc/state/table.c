/* The rows of one state, in the key groups that the task owns. */
#include "state.h"

int is_keyed_table(PyObject *candidate)
{
    return PyType_GetSlot(Py_TYPE(candidate), Py_tp_new) == rows_table_spec.slots[0].pfunc;
}

/* -- as Python calls it */

/* The group of a key of Python's; -1 with an error set. */
static int64_t seek(KeyedTable *self, PyObject *key)
{
    return key_of_value(&self->key, key, &self->rare) ? -1 : table_group(self, &self->key);
}

PyDoc_STRVAR(get_doc, "get(key) -> tuple | None: the values of a key; None if there is none.");

static PyObject *get(KeyedTable *self, PyObject *key)
{
    int64_t group = seek(self, key);
    if (group < 0)
        return NULL;
    vp_row *row = table_find(self, (uint64_t)group, &self->key);
    return row == NULL ? Py_NewRef(Py_None) : row_values(self, row);
}

PyDoc_STRVAR(set_doc, "set(key, values): give a key values, one for each column.");

static PyObject *set(KeyedTable *self, PyObject *args)
{
    PyObject *key, *values;
    if (!PyArg_ParseTuple(args, "OO!", &key, &PyTuple_Type, &values))
        return NULL;
    if (self->kind != COLUMNS) {
        PyErr_Format(PyExc_TypeError, "state %U has a %s for each key, and no columns", self->name,
                     self->kind == LIST ? "list" : "map");
        return NULL;
    }
    if (PyTuple_GET_SIZE(values) != PyBytes_GET_SIZE(self->codes)) {
        PyErr_Format(PyExc_ValueError, "state %U has %zd columns, and %zd values were given", self->name,
                     PyBytes_GET_SIZE(self->codes), PyTuple_GET_SIZE(values));
        return NULL;
    }
    int64_t group = seek(self, key);
    if (group < 0)
        return NULL;
    vp_savepoint before = vp_writer_savepoint(self->writer);
    vp_row *row = table_enter(self, (uint64_t)group, &self->key);
    if (row != NULL && table_touch(self, (uint64_t)group, row) == 0 &&
        row_set_columns(self, self->heaps[group], row, values) == 0)
        Py_RETURN_NONE;
    table_back(self, before); /* all values, or none */
    return NULL;
}

PyDoc_STRVAR(drop_doc, "drop(key) -> bool: forget a key; whether there was one.");

static PyObject *drop(KeyedTable *self, PyObject *key)
{
    int64_t group = seek(self, key);
    if (group < 0)
        return NULL;
    vp_row *row = table_find(self, (uint64_t)group, &self->key);
    if (row == NULL)
        Py_RETURN_FALSE;
    vp_savepoint before = vp_writer_savepoint(self->writer);
    if (table_drop(self, (uint64_t)group, row) == 0)
        Py_RETURN_TRUE;
    table_back(self, before);
    return NULL;
}

PyDoc_STRVAR(next_doc, "next(group, number) -> (number, key, values) | None: the first row of a group, in the order of insertion,\n"
                       "whose number is not below that one.");

static PyObject *next(KeyedTable *self, PyObject *args)
{
    unsigned long long group, first;
    if (!PyArg_ParseTuple(args, "KK", &group, &first))
        return NULL;
    if (table_owns(self, group) || table_tell_time(self))
        return NULL;
    uint64_t number = first;
    vp_row *row;
    while ((row = vp_keyed_next(self->writer, self->tables[group], &number)) != NULL && table_is_gone(self, row))
        number++;
    if (row == NULL)
        Py_RETURN_NONE;
    PyObject *key = row_key(self, row), *values = key == NULL ? NULL : row_values(self, row);
    if (values == NULL) {
        Py_XDECREF(key);
        return NULL;
    }
    return Py_BuildValue("(KNN)", (unsigned long long)number, key, values);
}

PyDoc_STRVAR(count_doc, "count(group) -> int: the keys of a group.");

static PyObject *count(KeyedTable *self, PyObject *group)
{
    size_t number = PyLong_AsSize_t(group);
    if (number == (size_t)-1 && PyErr_Occurred())
        return NULL;
    if (number >= self->groups || self->tables[number] == NULL)
        return PyLong_FromLong(0);
    return PyLong_FromUnsignedLongLong(vp_keyed_count(self->tables[number]));
}

/* Reads what rows hold: -1 where it is nothing. */
static int read_codes(KeyedTable *self, PyObject *codes)
{
    const char *text = PyBytes_AS_STRING(codes);
    Py_ssize_t count = PyBytes_GET_SIZE(codes);
    self->is_timed = text[0] == TIMED;
    text += self->is_timed;
    count -= self->is_timed;
    self->kind = count && (text[0] == LIST || text[0] == MAP) ? text[0] : COLUMNS;
    if (self->kind != COLUMNS && count != 2)
        return -1;
    self->codes = PyBytes_FromStringAndSize(text + (self->kind != COLUMNS), self->kind == COLUMNS ? count : 1);
    if (self->codes == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(self->codes); i++)
        if (!words_of_code(PyBytes_AS_STRING(self->codes)[i]))
            return -1;
    self->words = self->kind == LIST ? 3 : self->kind == MAP ? 1 : columns_words(self);
    return SHOWN_WORDS + self->words + self->is_timed <= VP_KEYED_WORDS ? 0 : -1;
}

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    static char *keywords[] = {"owner", "writer", "name", "codes", "tables", "heaps", "rare", "shown", "full", "changes", NULL};
    PyObject *owner, *writer, *name, *codes, *tables, *heaps, *hash, *canonical, *dump, *load, *full, *changes = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, options, "OO!O!O!O!O!(OO)(OO)O|O", keywords, &owner, &PyLong_Type, &writer,
                                     &PyUnicode_Type, &name, &PyBytes_Type, &codes, &PyTuple_Type, &tables, &PyTuple_Type,
                                     &heaps, &hash, &canonical, &dump, &load, &full, &changes))
        return NULL;
    void *address = PyLong_AsVoidPtr(writer);
    if (address == NULL && PyErr_Occurred())
        return NULL;
    KeyedTable *self = (KeyedTable *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    if (read_codes(self, codes)) {
        Py_DECREF(self);
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "%R are no codes of columns, of a list or of a map", codes);
        return NULL;
    }
    self->writer = address;
    self->time = INT64_MIN;
    self->owner = Py_NewRef(owner);
    self->name = Py_NewRef(name);
    self->full = Py_NewRef(full);
    self->dump = Py_NewRef(dump);
    self->load = Py_NewRef(load);
    self->rare = (Rare){Py_NewRef(hash), Py_NewRef(canonical)};
    if (table_find_groups(self, tables, heaps, changes))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int table_traverse(KeyedTable *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->owner);
    Py_VISIT(self->full);
    Py_VISIT(self->dump);
    Py_VISIT(self->load);
    Py_VISIT(self->rare.hash);
    Py_VISIT(self->rare.canonical);
    Py_VISIT(self->key.value);
    Py_VISIT(self->now);
    return 0;
}

static int table_clear(KeyedTable *self)
{
    Py_CLEAR(self->full);
    Py_CLEAR(self->dump);
    Py_CLEAR(self->load);
    Py_CLEAR(self->rare.hash);
    Py_CLEAR(self->rare.canonical);
    key_clear(&self->key);
    Py_CLEAR(self->now);
    Py_CLEAR(self->owner);
    return 0;
}

static void table_dealloc(KeyedTable *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    table_clear(self);
    Py_CLEAR(self->name);
    Py_CLEAR(self->codes);
    table_end_snapshot(self);
    PyMem_Free(self->changes);
    PyMem_Free(self->tables);
    PyMem_Free(self->heaps);
    PyMem_Free(self->swept);
    type->tp_free(self);
    Py_DECREF(type);
}

PyDoc_STRVAR(count_rows_doc,
             "count_rows(rows, indexes, made): count row after row by its key, which is in the fields with these indexes, and append\n"
             "these and the count, in a tuple, to the list `made` for each. Without indexes the rows are keys themselves. What it\n"
             "raises is of the row behind those.");

PyDoc_STRVAR(cut_doc,
             "cut(attempt, since, whole) -> (keys, whole): begin a snapshot of all key groups. `attempt` is its\n"
             "number, `since` that of the last one that lasts, 0 for none: what has not changed since is left out, unless\n"
             "`whole`, or unless it is better to have all rows anew. Tells the number of keys, and whether all rows are written.");

PyDoc_STRVAR(next_piece_doc,
             "next_piece(limit) -> (group, whole, bytes) | None: the next rows of a snapshot as bytes, of one group, until there\n"
             "are so many; and whether all of the group's are written. None: that was all. The table may change meanwhile.");

PyDoc_STRVAR(discard_doc, "discard(): give a snapshot up that is not all written.");

PyDoc_STRVAR(load_doc,
             "load(group, pieces, first, limit) -> int | None: enter rows of a group out of the pieces of snapshots of a table\n"
             "with the same codes, the older ones first, in the order in which the rows came, until there are `limit` bytes.\n"
             "Tells what the next call gets as `first`, 0 at first. None: that was all.");

PyDoc_STRVAR(expire_doc, "expire(ttl, now): have keys be gone that were not changed for so many microseconds, by the time that a\n"
                         "function tells for the tuple in process; one that goes back counts as the latest. The codes begin with @.");

PyDoc_STRVAR(own_doc, "own(tables, heaps, changes): have other key groups from now on, by their offsets, as when the table was made. It\n"
                      "is refused as long as something is not committed, or a snapshot not all written.");

PyDoc_STRVAR(note_doc, "note(group, first, second): leave two numbers of 64 bits to the task that owns a key group next. They are no state:\n"
                       "they stay if the process dies, and no snapshot has them.");

PyDoc_STRVAR(noted_doc, "noted(group) -> (first, second): the numbers that were left for a key group last; 0 if none were.");

PyDoc_STRVAR(codes_doc, "What its rows hold, as viper.state.KeyedState tells it.");

static PyObject *codes(KeyedTable *self, void *nothing)
{
    (void)nothing;
    const char kind[] = {self->kind, '\0'}; /* empty for columns */
    return PyUnicode_FromFormat("%s%s%s", self->is_timed ? "@" : "", kind, PyBytes_AS_STRING(self->codes));
}

static PyObject *group_count(KeyedTable *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromUnsignedLongLong(self->groups);
}

static PyObject *owner(KeyedTable *self, void *nothing)
{
    (void)nothing;
    return Py_NewRef(self->owner);
}

static PyObject *name(KeyedTable *self, void *nothing)
{
    (void)nothing;
    return Py_NewRef(self->name);
}

static PyGetSetDef table_getset[] = {
    {"codes", (getter)codes, NULL, codes_doc, NULL},
    {"groups", (getter)group_count, NULL, "Number of key groups.", NULL},
    {"owner", (getter)owner, NULL, "What keeps its memory: the task's writer.", NULL},
    {"name", (getter)name, NULL, "The state's, for messages.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef table_methods[] = {
    {"count_rows", (PyCFunction)table_count_rows, METH_VARARGS, count_rows_doc},
    {"get", (PyCFunction)get, METH_O, get_doc},
    {"set", (PyCFunction)set, METH_VARARGS, set_doc},
    {"drop", (PyCFunction)drop, METH_O, drop_doc},
    {"next", (PyCFunction)next, METH_VARARGS, next_doc},
    {"count", (PyCFunction)count, METH_O, count_doc},
    {"cut", (PyCFunction)table_cut, METH_VARARGS, cut_doc},
    {"next_piece", (PyCFunction)table_next_piece, METH_O, next_piece_doc},
    {"discard", (PyCFunction)table_discard, METH_NOARGS, discard_doc},
    {"load", (PyCFunction)table_load, METH_VARARGS, load_doc},
    {"expire", (PyCFunction)table_expire, METH_VARARGS, expire_doc},
    {"own", (PyCFunction)table_own, METH_VARARGS, own_doc},
    {"note", (PyCFunction)table_note, METH_VARARGS, note_doc},
    {"noted", (PyCFunction)table_noted, METH_O, noted_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot table_slots[] = {
    {Py_tp_new, table_new}, /* first: see is_keyed_table */
    {Py_tp_doc, "KeyedTable(owner, writer, name, codes, tables, heaps, rare, shown, full, changes=None): the rows of one state.\n"
                "`tables` and `heaps` have the offsets of each key group's, 0 for another task's; `rare` the functions that\n"
                "hash and write keys which C does not know; `shown` those that dump and load keys; `full` is raised where\n"
                "there is no room. `changes` has offsets, likewise, of where it is noted what changes."},
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_traverse, table_traverse},
    {Py_tp_clear, table_clear},
    {Py_tp_methods, table_methods},
    {Py_tp_getset, table_getset},
    {0, NULL},
};

PyType_Spec rows_table_spec = {"viper._rows.KeyedTable", sizeof(KeyedTable), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                               table_slots};
