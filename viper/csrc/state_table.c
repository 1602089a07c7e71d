/* The rows of one state, in the key groups that the task owns. */
#include "state.h"

int is_keyed_table(PyObject *candidate)
{
    return PyType_GetSlot(Py_TYPE(candidate), Py_tp_new) == rows_table_spec.slots[0].pfunc;
}

void table_is_full(const KeyedTable *table)
{
    PyErr_Format(table->full, "state %U has no room for more", table->name);
}

static int foreign(const KeyedTable *table, const Key *key, uint64_t group)
{
    PyErr_Format(PyExc_LookupError,
                 "state %U was asked for the key %R, which is of key group %llu, and that belongs to another task", table->name,
                 key->value, (unsigned long long)group);
    return -1;
}

int64_t table_group(KeyedTable *table, const Key *key)
{
    uint64_t group = key->hash & (table->groups - 1);
    return table->tables[group] == NULL ? foreign(table, key, group) : (int64_t)group;
}

/* -- rows */

/* Keeps the value of a key that its bytes do not tell; -1 with an error set. */
static int keep_shown(KeyedTable *table, vp_heap *heap, vp_row *row, const Key *key)
{
    PyObject *bytes = PyObject_CallOneArg(table->dump, key->value);
    int failed = bytes == NULL || state_set_value(table, heap, BINARY, vp_row_values(row), bytes);
    Py_XDECREF(bytes);
    return failed ? -1 : 0;
}

vp_row *table_enter(KeyedTable *table, uint64_t group, const Key *key)
{
    bool moved;
    uint64_t before = vp_keyed_count(table->tables[group]);
    vp_row *row = vp_keyed_enter(table->writer, table->tables[group], table->heaps[group], key->hash, key->bytes,
                                 key->length, &moved);
    table->moves += moved;
    if (row == NULL)
        table_is_full(table);
    else if (!key->whole && vp_keyed_count(table->tables[group]) > before &&
             keep_shown(table, table->heaps[group], row, key))
        return NULL;
    return row;
}

/* The key that a row is shown with. */
static PyObject *key_of(const KeyedTable *table, vp_row *row)
{
    uint64_t length;
    const uint8_t *bytes = vp_bytes_get(table->writer, (const vp_bytes *)vp_row_values(row), &length);
    if (length) {
        PyObject *shown = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)length), *value = NULL;
        if (shown != NULL)
            value = PyObject_CallOneArg(table->load, shown);
        Py_XDECREF(shown);
        return value;
    }
    bytes = vp_row_key(table->writer, row, &length);
    return key_to_value(bytes, length);
}

static PyObject *values_of(const KeyedTable *table, vp_row *row)
{
    const char *codes = PyBytes_AS_STRING(table->codes);
    const uint64_t *words = vp_row_values(row) + SHOWN_WORDS;
    Py_ssize_t count = PyBytes_GET_SIZE(table->codes);
    PyObject *values = PyTuple_New(count);
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
        PyObject *value = state_value(table, codes[i], words);
        if (value == NULL)
            Py_CLEAR(values);
        else
            PyTuple_SET_ITEM(values, i, value);
        words += words_of_code(codes[i]);
    }
    return values;
}

static int set_values(KeyedTable *table, vp_heap *heap, vp_row *row, PyObject *values)
{
    const char *codes = PyBytes_AS_STRING(table->codes);
    uint64_t *words = vp_row_values(row) + SHOWN_WORDS;
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(table->codes); i++) {
        if (state_set_value(table, heap, codes[i], words, PyTuple_GET_ITEM(values, i)))
            return -1;
        words += words_of_code(codes[i]);
    }
    return 0;
}

static int free_bytes(KeyedTable *table, vp_heap *heap, vp_row *row)
{
    const char *codes = PyBytes_AS_STRING(table->codes);
    uint64_t *words = vp_row_values(row);
    int failed = vp_bytes_free(table->writer, heap, (vp_bytes *)words);
    words += SHOWN_WORDS;
    for (Py_ssize_t i = 0; !failed && i < PyBytes_GET_SIZE(table->codes); i++) {
        if (words_of_code(codes[i]) == 2)
            failed = vp_bytes_free(table->writer, heap, (vp_bytes *)words);
        words += words_of_code(codes[i]);
    }
    return failed;
}

/* -- as Python calls it */

/* The group of a key of Python's; -1 with an error set. */
static int64_t seek(KeyedTable *self, PyObject *key)
{
    return key_of_value(&self->key, key, &self->rare) ? -1 : table_group(self, &self->key);
}

static vp_row *find(KeyedTable *self, int64_t group)
{
    return vp_keyed_find(self->writer, self->tables[group], self->key.hash, self->key.bytes, self->key.length);
}

PyDoc_STRVAR(get_doc, "get(key) -> tuple | None: the values of a key; None if there is none.");

static PyObject *get(KeyedTable *self, PyObject *key)
{
    int64_t group = seek(self, key);
    if (group < 0)
        return NULL;
    vp_row *row = find(self, group);
    return row == NULL ? Py_NewRef(Py_None) : values_of(self, row);
}

PyDoc_STRVAR(set_doc, "set(key, values): give a key values, one for each column.");

static PyObject *set(KeyedTable *self, PyObject *args)
{
    PyObject *key, *values;
    if (!PyArg_ParseTuple(args, "OO!", &key, &PyTuple_Type, &values))
        return NULL;
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
    if (row != NULL && set_values(self, self->heaps[group], row, values) == 0)
        Py_RETURN_NONE;
    vp_writer_back(self->writer, before); /* all values, or none */
    self->moves++;
    return NULL;
}

PyDoc_STRVAR(drop_doc, "drop(key) -> bool: forget a key; whether there was one.");

static PyObject *drop(KeyedTable *self, PyObject *key)
{
    int64_t group = seek(self, key);
    if (group < 0)
        return NULL;
    vp_row *row = find(self, group);
    if (row == NULL)
        Py_RETURN_FALSE;
    if (free_bytes(self, self->heaps[group], row) ||
        vp_keyed_drop(self->writer, self->tables[group], self->heaps[group], row)) {
        table_is_full(self);
        return NULL;
    }
    self->moves++; /* nobody may go on with the row */
    Py_RETURN_TRUE;
}

PyDoc_STRVAR(next_doc, "next(group, number) -> (number, key, values) | None: the first row of a group, in the order of insertion,\n"
                       "whose number is not below that one.");

static PyObject *next(KeyedTable *self, PyObject *args)
{
    unsigned long long group, first;
    if (!PyArg_ParseTuple(args, "KK", &group, &first))
        return NULL;
    if (group >= self->groups || self->tables[group] == NULL) {
        PyErr_Format(PyExc_LookupError, "state %U: key group %llu is none of this task's", self->name, group);
        return NULL;
    }
    uint64_t number = first;
    vp_row *row = vp_keyed_next(self->writer, self->tables[group], &number);
    if (row == NULL)
        Py_RETURN_NONE;
    PyObject *key = key_of(self, row), *values = key == NULL ? NULL : values_of(self, row);
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

static int read_codes(const char *codes, Py_ssize_t count)
{
    int words = SHOWN_WORDS;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!words_of_code(codes[i]))
            return -1;
        words += words_of_code(codes[i]);
    }
    return words <= VP_KEYED_WORDS ? words : -1;
}

static void *place_at(char *arena, PyObject *offsets, Py_ssize_t group)
{
    size_t offset = PyLong_AsSize_t(PyTuple_GET_ITEM(offsets, group));
    return offset == 0 || offset == (size_t)-1 ? NULL : arena + offset;
}

/* -1 with an error set. */
static int find_places(KeyedTable *self, PyObject *tables, PyObject *heaps)
{
    Py_ssize_t groups = PyTuple_GET_SIZE(tables);
    if (groups < 1 || groups & (groups - 1) || PyTuple_GET_SIZE(heaps) != groups) {
        PyErr_SetString(PyExc_ValueError, "the key groups are a power of two, each with a table and a heap");
        return -1;
    }
    self->groups = (uint64_t)groups;
    self->tables = PyMem_New(vp_keyed *, groups);
    self->heaps = PyMem_New(vp_heap *, groups);
    if (self->tables == NULL || self->heaps == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t group = 0; group < groups; group++) {
        self->tables[group] = place_at(self->writer->arena, tables, group);
        self->heaps[group] = place_at(self->writer->arena, heaps, group);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    static char *keywords[] = {"owner", "writer", "name", "codes", "tables", "heaps", "rare", "shown", "full", NULL};
    PyObject *owner, *writer, *name, *codes, *tables, *heaps, *hash, *canonical, *dump, *load, *full;
    if (!PyArg_ParseTupleAndKeywords(args, options, "OO!O!O!O!O!(OO)(OO)O", keywords, &owner, &PyLong_Type, &writer,
                                     &PyUnicode_Type, &name, &PyBytes_Type, &codes, &PyTuple_Type, &tables, &PyTuple_Type,
                                     &heaps, &hash, &canonical, &dump, &load, &full))
        return NULL;
    void *address = PyLong_AsVoidPtr(writer);
    if (address == NULL && PyErr_Occurred())
        return NULL;
    if (read_codes(PyBytes_AS_STRING(codes), PyBytes_GET_SIZE(codes)) < 0) {
        PyErr_Format(PyExc_ValueError, "%R are no codes of columns", codes);
        return NULL;
    }
    KeyedTable *self = (KeyedTable *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->writer = address;
    self->owner = Py_NewRef(owner);
    self->name = Py_NewRef(name);
    self->codes = Py_NewRef(codes);
    self->full = Py_NewRef(full);
    self->dump = Py_NewRef(dump);
    self->load = Py_NewRef(load);
    self->rare = (Rare){Py_NewRef(hash), Py_NewRef(canonical)};
    if (find_places(self, tables, heaps))
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
    PyMem_Free(self->tables);
    PyMem_Free(self->heaps);
    type->tp_free(self);
    Py_DECREF(type);
}

PyDoc_STRVAR(count_up_doc,
             "count_up(rows, indexes, made): count row after row by its key, which is in the fields with these indexes, and append\n"
             "these and the count, in a tuple, to the list `made` for each. What it raises is of the row behind those.");

static PyMethodDef table_methods[] = {
    {"count_up", (PyCFunction)table_count_up, METH_VARARGS, count_up_doc},
    {"get", (PyCFunction)get, METH_O, get_doc},
    {"set", (PyCFunction)set, METH_VARARGS, set_doc},
    {"drop", (PyCFunction)drop, METH_O, drop_doc},
    {"next", (PyCFunction)next, METH_VARARGS, next_doc},
    {"count", (PyCFunction)count, METH_O, count_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot table_slots[] = {
    {Py_tp_new, table_new}, /* first: see is_keyed_table */
    {Py_tp_doc, "KeyedTable(owner, writer, name, codes, tables, heaps, rare, shown, full): the rows of one state.\n"
                "`tables` and `heaps` have the offsets of each key group's, 0 for another task's; `rare` the functions that\n"
                "hash and write keys which C does not know; `shown` those that dump and load keys; `full` is raised where\n"
                "there is no room."},
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_traverse, table_traverse},
    {Py_tp_clear, table_clear},
    {Py_tp_methods, table_methods},
    {0, NULL},
};

PyType_Spec rows_table_spec = {"viper._rows.KeyedTable", sizeof(KeyedTable), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                               table_slots};
