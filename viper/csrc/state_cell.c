/* The value that a state has for the key of the tuple in process.
 *
 * A bolt reads and writes it several times for a tuple, `seen.value += 1` twice. So the row is looked for once,
 * and found again as long as the tuple is the same and no row of the table has moved or left.
 */
#include "state.h"

typedef struct {
    PyObject_HEAD
    Scope *scope;
    KeyedTable *table; /* of one column */
    PyObject *initial; /* what a key has that was given nothing */
    char code;
    vp_row *row; /* NULL: the key has none */
    uint64_t group;
    uint64_t number, moves; /* the scope's and the table's when the row was looked for */
} Cell;

/* Looks for the row of the scope's key; -1 with an error set. */
static int look(Cell *self)
{
    if (self->number == self->scope->number && self->moves == self->table->moves)
        return 0;
    const Key *key = scope_key(self->scope);
    int64_t group = key == NULL ? -1 : table_group(self->table, key);
    if (group < 0)
        return -1;
    self->group = (uint64_t)group;
    self->row = vp_keyed_find(self->table->writer, self->table->tables[group], key->hash, key->bytes, key->length);
    self->number = self->scope->number;
    self->moves = self->table->moves;
    return 0;
}

static PyObject *value(Cell *self, void *nothing)
{
    (void)nothing;
    if (look(self))
        return NULL;
    return self->row == NULL ? Py_NewRef(self->initial)
                             : state_value(self->table, self->code, vp_row_values(self->row) + SHOWN_WORDS);
}

/* Makes a row of the key; -1 with an error set. */
static int enter(Cell *self)
{
    self->row = table_enter(self->table, self->group, scope_key(self->scope));
    self->moves = self->table->moves;
    return self->row == NULL ? -1 : 0;
}

static int clear(Cell *self)
{
    PyObject *dropped = self->row == NULL ? Py_NewRef(Py_False)
                                          : PyObject_CallMethod((PyObject *)self->table, "drop", "O", self->scope->key.value);
    Py_XDECREF(dropped);
    return dropped == NULL ? -1 : 0;
}

static int set_value(Cell *self, PyObject *to, void *nothing)
{
    (void)nothing;
    if (look(self))
        return -1;
    if (to == NULL)
        return clear(self);
    int is_new = self->row == NULL;
    vp_savepoint before = vp_writer_savepoint(self->table->writer);
    if ((!is_new || enter(self) == 0) &&
        state_set_value(self->table, self->table->heaps[self->group], self->code, vp_row_values(self->row) + SHOWN_WORDS, to) == 0)
        return 0;
    vp_writer_back(self->table->writer, before);
    self->table->moves++; /* the row may have gone back */
    return -1;
}

static PyObject *is_set(Cell *self, void *nothing)
{
    (void)nothing;
    return look(self) ? NULL : PyBool_FromLong(self->row != NULL);
}

PyDoc_STRVAR(clear_doc, "clear(): let the key have the initial value again.");

static PyObject *cell_reset(Cell *self, PyObject *nothing)
{
    (void)nothing;
    return look(self) || clear(self) ? NULL : Py_NewRef(Py_None);
}

static PyObject *cell_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    PyObject *scope, *table, *initial;
    if (!PyArg_ParseTuple(args, "OOO", &scope, &table, &initial))
        return NULL;
    if ((options != NULL && PyDict_GET_SIZE(options)) || !is_scope(scope) || !is_keyed_table(table) ||
        PyBytes_GET_SIZE(((KeyedTable *)table)->codes) != 1) {
        PyErr_SetString(PyExc_TypeError, "a StateCell is made of a Scope, a KeyedTable of one column, and the initial value");
        return NULL;
    }
    Cell *self = (Cell *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->scope = (Scope *)Py_NewRef(scope);
    self->table = (KeyedTable *)Py_NewRef(table);
    self->initial = Py_NewRef(initial);
    self->code = PyBytes_AS_STRING(self->table->codes)[0];
    self->number = UINT64_MAX;
    return (PyObject *)self;
}

static int cell_traverse(Cell *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->scope);
    Py_VISIT(self->table);
    Py_VISIT(self->initial);
    return 0;
}

static int cell_clear(Cell *self)
{
    Py_CLEAR(self->scope);
    Py_CLEAR(self->table);
    Py_CLEAR(self->initial);
    return 0;
}

static void cell_dealloc(Cell *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    cell_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef cell_methods[] = {
    {"clear", (PyCFunction)cell_reset, METH_NOARGS, clear_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef cell_getset[] = {
    {"value", (getter)value, (setter)set_value, "The value of the key of the tuple in process.", NULL},
    {"is_set", (getter)is_set, NULL, "Whether the key was given a value.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot cell_slots[] = {
    {Py_tp_new, cell_new},
    {Py_tp_doc, "StateCell(scope, table, initial): the value of a state for the scope's key."},
    {Py_tp_dealloc, cell_dealloc},
    {Py_tp_traverse, cell_traverse},
    {Py_tp_clear, cell_clear},
    {Py_tp_methods, cell_methods},
    {Py_tp_getset, cell_getset},
    {0, NULL},
};

PyType_Spec rows_cell_spec = {"viper._rows.StateCell", sizeof(Cell), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, cell_slots};
