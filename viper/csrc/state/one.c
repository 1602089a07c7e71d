/* StateCell: the value that a state has for the key of the tuple in process.
 *
 * What a bolt does for each tuple is looked at first: the attribute `value` and the method `add` are told by the address
 * of their interned names, before the type is asked for them: `value += 1` takes 75 ns so instead of 97.
 */
#include "state.h"

typedef struct {
    Cell cell;
    PyObject *initial; /* what a key has that was given nothing */
    PyObject *last;    /* the int that was set last, or NULL; a bolt that counts a tuple looks at the count next */
    uint64_t last_word;
    PyObject *value_name, *add_name;
} One;

static PyObject *value(One *self, void *nothing)
{
    (void)nothing;
    if (cell_look(&self->cell))
        return NULL;
    if (self->cell.row == NULL)
        return Py_NewRef(self->initial);
    const uint64_t *words = row_words(self->cell.row);
    if (self->last != NULL && words[0] == self->last_word)
        return Py_NewRef(self->last);
    return state_value(self->cell.table, self->cell.code, words);
}

/* Writes a number into the row of a cell that was looked for; -1 with an error set. */
static int put_word(Cell *cell, uint64_t word)
{
    int enters = cell->row == NULL;
    vp_savepoint before = {0, 0, 0};
    if (enters) {
        before = cell_savepoint(cell);
        if (cell_enter(cell)) {
            table_back(cell->table, before);
            return -1;
        }
    }
    int failed = table_touch(cell->table, cell->group, cell->row);
    if (!failed && vp_writer_reserve(cell->table->writer, 1)) {
        table_is_full(cell->table);
        failed = -1;
    }
    if (!failed)
        vp_write(cell->table->writer, (vp_word *)row_words(cell->row), word);
    else if (enters)
        table_back(cell->table, before);
    return failed;
}

/* Writes a number, and keeps it where it is the int that reads are to return; -1 with an error set. */
static int set_number(One *self, PyObject *to)
{
    Cell *cell = &self->cell;
    uint64_t word;
    /* The word first: what is asked for its repr may change the table. */
    if (state_word(cell->table, cell->code, to, &word) || cell_look(cell) || put_word(cell, word))
        return -1;
    if (cell->code == INTEGER && PyLong_CheckExact(to)) {
        Py_XSETREF(self->last, Py_NewRef(to));
        self->last_word = word;
    }
    return 0;
}

static int set_value(One *self, PyObject *to, void *nothing)
{
    (void)nothing;
    Cell *cell = &self->cell;
    if (to == NULL)
        return cell_drop(cell);
    if (cell->code == INTEGER || words_of_code(cell->code) == 1)
        return set_number(self, to);
    vp_savepoint before = cell_savepoint(cell);
    if (cell_enter(cell) == 0 && table_touch(cell->table, cell->group, cell->row) == 0 &&
        state_set_value(cell->table, cell_heap(cell), cell->code, row_words(cell->row), to) == 0)
        return 0;
    table_back(cell->table, before);
    return -1;
}

PyDoc_STRVAR(add_doc, "add(amount) -> int | float: add to the number of the key, and tell the number that it has then.");

static PyObject *add(One *self, PyObject *by)
{
    Cell *cell = &self->cell;
    const KeyedTable *table = cell->table;
    uint64_t amount, number = 0;
    if (state_check_sums(table, cell->code) || state_word(table, cell->code, by, &amount) || cell_look(cell))
        return NULL;
    if (cell->row != NULL)
        number = row_words(cell->row)[0];
    else if (self->initial != Py_None && state_word(table, cell->code, self->initial, &number))
        return NULL;
    if (state_sum(table, cell->code, number, amount, &number) || put_word(cell, number))
        return NULL;
    return state_value(table, cell->code, &number);
}

static PyObject *is_set(One *self, void *nothing)
{
    (void)nothing;
    return cell_look(&self->cell) ? NULL : PyBool_FromLong(self->cell.row != NULL);
}

PyDoc_STRVAR(clear_doc, "clear(): let the key have the initial value again.");

static PyObject *reset(One *self, PyObject *nothing)
{
    (void)nothing;
    return cell_drop(&self->cell) ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(add_all_doc,
             "add_all(keys, amounts=None) -> memoryview: add to the number of each key, 1 if no amounts are given, one after the\n"
             "other; and tell the number that each has then. Keys are a list of values, or an Arrow column of integers,\n"
             "strings or binaries; amounts a list, or a buffer of 64-bit numbers. All is added, or nothing.");

static PyObject *add_all(One *self, PyObject *args)
{
    return bulk_add(self->cell.table, self->initial, args);
}

PyDoc_STRVAR(get_all_doc, "get_all(keys) -> list: the value of each key; keys are those of add_all.");

static PyObject *get_all(One *self, PyObject *keys)
{
    return bulk_get(self->cell.table, self->initial, keys);
}

PyDoc_STRVAR(put_all_doc, "put_all(keys, values): give each key a value, the last one if it comes several times. All get theirs, or\n"
                          "none does.");

static PyObject *put_all(One *self, PyObject *args)
{
    return bulk_put(self->cell.table, args);
}

static PyObject *one_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    PyObject *scope, *table, *initial;
    if (options != NULL && PyDict_GET_SIZE(options)) {
        PyErr_SetString(PyExc_TypeError, "StateCell() takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOO", &scope, &table, &initial))
        return NULL;
    One *self = (One *)cell_of(type, scope, table, COLUMNS, 1);
    if (self == NULL)
        return NULL;
    self->initial = Py_NewRef(initial);
    self->value_name = PyUnicode_InternFromString("value");
    self->add_name = PyUnicode_InternFromString("add");
    if (self->value_name == NULL || self->add_name == NULL)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyMethodDef add_method = {"add", (PyCFunction)add, METH_O, add_doc};

static PyObject *get_attribute(One *self, PyObject *name)
{
    if (name == self->value_name)
        return value(self, NULL);
    if (name == self->add_name) /* made anew: if the cell kept it, the two would keep each other, and their arena */
        return PyCFunction_New(&add_method, (PyObject *)self);
    return PyObject_GenericGetAttr((PyObject *)self, name);
}

static int set_attribute(One *self, PyObject *name, PyObject *to)
{
    return name == self->value_name ? set_value(self, to, NULL) : PyObject_GenericSetAttr((PyObject *)self, name, to);
}

static int one_traverse(One *self, visitproc visit, void *arg)
{
    Py_VISIT(self->initial);
    Py_VISIT(self->last);
    Py_VISIT(self->value_name);
    Py_VISIT(self->add_name);
    return cell_traverse(&self->cell, visit, arg);
}

static int one_clear(One *self)
{
    Py_CLEAR(self->initial);
    Py_CLEAR(self->last);
    Py_CLEAR(self->value_name);
    Py_CLEAR(self->add_name);
    return cell_clear(&self->cell);
}

static PyMethodDef one_methods[] = {
    {"add", (PyCFunction)add, METH_O, add_doc},
    {"clear", (PyCFunction)reset, METH_NOARGS, clear_doc},
    {"add_all", (PyCFunction)add_all, METH_VARARGS, add_all_doc},
    {"get_all", (PyCFunction)get_all, METH_O, get_all_doc},
    {"put_all", (PyCFunction)put_all, METH_VARARGS, put_all_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef one_getset[] = {
    {"value", (getter)value, (setter)set_value, "The value of the key of the tuple in process.", NULL},
    {"is_set", (getter)is_set, NULL, "Whether the key was given a value.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot one_slots[] = {
    {Py_tp_new, one_new},
    {Py_tp_doc, "StateCell(scope, table, initial): the value of a state for the scope's key."},
    {Py_tp_dealloc, cell_dealloc},
    {Py_tp_traverse, one_traverse},
    {Py_tp_clear, one_clear},
    {Py_tp_getattro, get_attribute},
    {Py_tp_setattro, set_attribute},
    {Py_tp_methods, one_methods},
    {Py_tp_getset, one_getset},
    {0, NULL},
};

PyType_Spec rows_cell_spec = {"viper._rows.StateCell", sizeof(One), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, one_slots};
