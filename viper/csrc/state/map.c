/* MapCell: the map that a state has for the key of the tuple in process.
 *
 * A map is a table of its own within the row of its key, so that each entry is found, written and taken back alone, and
 * they stay in the order in which they came.
 */
#include "state.h"

typedef struct {
    Cell cell;
    char key_code; /* 0: keys of any type */
    Key key;       /* the one asked for last */
} Map;

/* Makes the bytes of a key; -1 with an error set. */
static int seek(Map *self, PyObject *key)
{
    const KeyedTable *table = self->cell.table;
    return state_check_key(table, self->key_code, key) ? -1 : key_of_value(&self->key, key, &table->rare);
}

/* The row of a key in the map, NULL if there is none; -1 with an error set. */
static int find(Map *self, PyObject *key, vp_row **row)
{
    Cell *cell = &self->cell;
    *row = NULL;
    /* The key first: what makes its bytes may run code that changes the table. */
    if (seek(self, key) || cell_look(cell))
        return -1;
    const Key *of = &self->key;
    vp_keyed *rows = map_rows(cell->table, cell->row);
    if (rows != NULL)
        *row = vp_keyed_find(cell->table->writer, rows, of->hash, of->bytes, of->length);
    return 0;
}

PyDoc_STRVAR(get_doc, "get(key, default=None) -> object: the value of a key, or the default if there is none.");

static PyObject *get(Map *self, PyObject *args)
{
    PyObject *key, *instead = Py_None;
    vp_row *row;
    if (!PyArg_ParseTuple(args, "O|O", &key, &instead) || find(self, key, &row))
        return NULL;
    return row == NULL ? Py_NewRef(instead) : entry_value(self->cell.table, row);
}

/* The rows of the scope's key, which are about to change and are made if there are none; NULL with an error set. */
static vp_keyed *enter_map(Cell *cell)
{
    if (cell_enter(cell) || table_touch(cell->table, cell->group, cell->row))
        return NULL;
    vp_keyed *rows = map_rows(cell->table, cell->row);
    return rows == NULL ? map_make(cell->table, cell_heap(cell), cell->row) : rows;
}

static int write_entry(Map *self, PyObject *value)
{
    Cell *cell = &self->cell;
    vp_keyed *rows = enter_map(cell);
    vp_row *row = rows == NULL ? NULL : rows_enter(cell->table, rows, cell_heap(cell), &self->key);
    cell->moves = cell->table->moves; /* rows within the map may have moved, but not its own */
    return row == NULL ? -1 : state_set_value(cell->table, cell_heap(cell), cell->code, row_words(row), value);
}

/* -1 with an error set. */
static int put_value(Map *self, PyObject *key, PyObject *value)
{
    if (seek(self, key))
        return -1;
    vp_savepoint before = cell_savepoint(&self->cell);
    if (write_entry(self, value) == 0)
        return 0;
    table_back(self->cell.table, before);
    return -1;
}

PyDoc_STRVAR(put_doc, "put(key, value): give a key a value.");

static PyObject *put(Map *self, PyObject *args)
{
    PyObject *key, *value;
    return PyArg_ParseTuple(args, "OO", &key, &value) && put_value(self, key, value) == 0 ? Py_NewRef(Py_None) : NULL;
}

/* Takes an entry out, and the map with its last one; -1 with an error set. */
static int drop_entry(Cell *cell, vp_row *row)
{
    vp_keyed *rows = map_rows(cell->table, cell->row);
    if (vp_keyed_count(rows) == 1)
        return cell_drop(cell);
    vp_savepoint before = cell_savepoint(cell);
    if (table_touch(cell->table, cell->group, cell->row) == 0 && rows_drop(cell->table, rows, cell_heap(cell), row) == 0)
        return 0;
    table_back(cell->table, before);
    return -1;
}

PyDoc_STRVAR(remove_doc, "remove(key) -> bool: forget a key; whether there was one.");

static PyObject *remove_key(Map *self, PyObject *key)
{
    vp_row *row;
    if (find(self, key, &row) || (row != NULL && drop_entry(&self->cell, row)))
        return NULL;
    return PyBool_FromLong(row != NULL);
}

PyDoc_STRVAR(contains_doc, "contains(key) -> bool: whether a key has a value.");

static int has(Map *self, PyObject *key)
{
    vp_row *row;
    return find(self, key, &row) ? -1 : row != NULL;
}

static PyObject *contains(Map *self, PyObject *key)
{
    int found = has(self, key);
    return found < 0 ? NULL : PyBool_FromLong(found);
}

PyDoc_STRVAR(keys_doc, "keys() -> list: the keys, in the order in which they came.");

static PyObject *entries(Map *self, PyObject *(*make)(const KeyedTable *, vp_row *))
{
    return cell_look(&self->cell) ? NULL : map_entries(self->cell.table, self->cell.row, make);
}

static PyObject *keys(Map *self, PyObject *nothing)
{
    (void)nothing;
    return entries(self, row_key);
}

PyDoc_STRVAR(values_doc, "values() -> list: the values, in the order of their keys.");

static PyObject *values(Map *self, PyObject *nothing)
{
    (void)nothing;
    return entries(self, entry_value);
}

PyDoc_STRVAR(items_doc, "items() -> list of (key, value): the entries, in the order in which their keys came.");

static PyObject *items(Map *self, PyObject *nothing)
{
    (void)nothing;
    return entries(self, entry_item);
}

PyDoc_STRVAR(clear_doc, "clear(): forget all keys.");

static PyObject *clear(Map *self, PyObject *nothing)
{
    (void)nothing;
    return cell_drop(&self->cell) ? NULL : Py_NewRef(Py_None);
}

static Py_ssize_t length(Map *self)
{
    if (cell_look(&self->cell))
        return -1;
    vp_keyed *rows = map_rows(self->cell.table, self->cell.row);
    return rows == NULL ? 0 : (Py_ssize_t)vp_keyed_count(rows);
}

PyDoc_STRVAR(is_empty_doc, "is_empty() -> bool: whether there is no key.");

static PyObject *is_empty(Map *self, PyObject *nothing)
{
    (void)nothing;
    Py_ssize_t count = length(self);
    return count < 0 ? NULL : PyBool_FromLong(count == 0);
}

static PyObject *iterate(Map *self)
{
    PyObject *list = keys(self, NULL), *iterator = list == NULL ? NULL : PyObject_GetIter(list);
    Py_XDECREF(list);
    return iterator;
}

static PyObject *map_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    PyObject *scope, *table;
    const char *code = "";
    if (options != NULL && PyDict_GET_SIZE(options)) {
        PyErr_SetString(PyExc_TypeError, "MapCell() takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OO|s", &scope, &table, &code))
        return NULL;
    if (*code && (!words_of_code(*code) || code[1])) {
        PyErr_Format(PyExc_ValueError, "'%s' is no code of keys", code);
        return NULL;
    }
    Map *self = (Map *)cell_of(type, scope, table, MAP, 1);
    if (self != NULL)
        self->key_code = *code;
    return (PyObject *)self;
}

static int map_traverse(Map *self, visitproc visit, void *arg)
{
    Py_VISIT(self->key.value);
    return cell_traverse(&self->cell, visit, arg);
}

static int map_clear(Map *self)
{
    key_clear(&self->key);
    return cell_clear(&self->cell);
}

static PyMethodDef map_methods[] = {
    {"get", (PyCFunction)get, METH_VARARGS, get_doc},
    {"put", (PyCFunction)put, METH_VARARGS, put_doc},
    {"remove", (PyCFunction)remove_key, METH_O, remove_doc},
    {"contains", (PyCFunction)contains, METH_O, contains_doc},
    {"keys", (PyCFunction)keys, METH_NOARGS, keys_doc},
    {"values", (PyCFunction)values, METH_NOARGS, values_doc},
    {"items", (PyCFunction)items, METH_NOARGS, items_doc},
    {"is_empty", (PyCFunction)is_empty, METH_NOARGS, is_empty_doc},
    {"clear", (PyCFunction)clear, METH_NOARGS, clear_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot map_slots[] = {
    {Py_tp_new, map_new},
    {Py_tp_doc, "MapCell(scope, table, code=''): the map that a state has for the scope's key; all keys are of the code's type."},
    {Py_tp_dealloc, cell_dealloc},
    {Py_tp_traverse, map_traverse},
    {Py_tp_clear, map_clear},
    {Py_tp_methods, map_methods},
    {Py_tp_iter, iterate},
    {Py_sq_length, length},
    {Py_sq_contains, has},
    {0, NULL},
};

PyType_Spec rows_map_spec = {"viper._rows.MapCell", sizeof(Map), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, map_slots};
