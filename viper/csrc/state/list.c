/* ListCell: the list that a state has for the key of the tuple in process.
 *
 * The elements stand one after the other in bytes that grow in their place: numbers in eight bytes, bools in one, texts
 * and bytes behind their length in four. So appending costs the same however long the list is.
 */
#include "state.h"

#include <string.h>

/* What is about to be appended. */
typedef struct {
    Buffer bytes;
    uint64_t count;
} Encoded;

/* -- into a row */

static int add_text(Encoded *to, const KeyedTable *table, char code, PyObject *value)
{
    const char *data;
    Py_ssize_t size;
    PyObject *bytes = state_bytes(table, code, value, &data, &size);
    int failed = bytes == NULL;
    if (!failed && (uint64_t)size > UINT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "state %U: an element of a list has more than 4 GB", table->name);
        failed = 1;
    }
    uint32_t length = (uint32_t)(failed ? 0 : size);
    failed = failed || buffer_add(&to->bytes, &length, sizeof length) || (length && buffer_add(&to->bytes, data, length));
    Py_XDECREF(bytes);
    return failed ? -1 : 0;
}

static int add_element(Encoded *to, const KeyedTable *table, char code, PyObject *value)
{
    uint64_t word;
    to->count++;
    if (words_of_code(code) == 2)
        return add_text(to, table, code, value);
    uint8_t truth;
    if (state_word(table, code, value, &word))
        return -1;
    truth = (uint8_t)word;
    return code == TRUTH ? buffer_add(&to->bytes, &truth, 1) : buffer_add(&to->bytes, &word, sizeof word);
}

/* Encodes what an iterable yields; -1 with an error set. */
static int encode(Encoded *to, const KeyedTable *table, char code, PyObject *values)
{
    PyObject *sequence = PySequence_Tuple(values); /* what is asked for its repr may change a list */
    int failed = sequence == NULL;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(sequence); i++)
        failed = add_element(to, table, code, PyTuple_GET_ITEM(sequence, i));
    Py_XDECREF(sequence);
    return failed ? -1 : 0;
}

/* Appends to a row, or puts in the place of what is there; -1 with an error set. */
static int write_encoded(Cell *self, const Encoded *from, int anew)
{
    KeyedTable *table = self->table;
    vp_bytes *bytes = (vp_bytes *)row_words(self->row);
    uint64_t count = anew ? 0 : *list_count(self->row);
    if (table_touch(table, self->group, self->row))
        return -1;
    int full = anew ? vp_bytes_set(table->writer, cell_heap(self), bytes, from->bytes.data, from->bytes.length)
                    : vp_bytes_append(table->writer, cell_heap(self), bytes, from->bytes.data, from->bytes.length);
    if (full || vp_writer_reserve(table->writer, 1)) {
        table_is_full(table);
        return -1;
    }
    vp_write(table->writer, (vp_word *)list_count(self->row), count + from->count);
    return 0;
}

/* Likewise to the row of the scope's key. */
static PyObject *change(Cell *self, const Encoded *from, int anew)
{
    vp_savepoint before = cell_savepoint(self);
    if (cell_enter(self) == 0 && write_encoded(self, from, anew) == 0)
        Py_RETURN_NONE;
    table_back(self->table, before);
    return NULL;
}

/* -- as Python calls it */

PyDoc_STRVAR(add_doc, "add(value): append an element.");

static PyObject *add(Cell *self, PyObject *value)
{
    Encoded one = {0};
    PyObject *done = add_element(&one, self->table, self->code, value) ? NULL : change(self, &one, 0);
    PyMem_Free(one.bytes.data);
    return done;
}

PyDoc_STRVAR(add_all_doc, "add_all(values): append elements.");

static PyObject *add_all(Cell *self, PyObject *values)
{
    Encoded all = {0};
    PyObject *done = encode(&all, self->table, self->code, values) ? NULL
                     : all.count                                   ? change(self, &all, 0)
                                                                   : Py_NewRef(Py_None);
    PyMem_Free(all.bytes.data);
    return done;
}

PyDoc_STRVAR(clear_doc, "clear(): take all elements out.");

static PyObject *clear(Cell *self, PyObject *nothing)
{
    (void)nothing;
    return cell_drop(self) ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(update_doc, "update(values): put elements in the place of those that are there.");

static PyObject *update(Cell *self, PyObject *values)
{
    Encoded all = {0};
    PyObject *done = encode(&all, self->table, self->code, values) ? NULL
                     : all.count                                   ? change(self, &all, 1)
                                                                   : clear(self, NULL);
    PyMem_Free(all.bytes.data);
    return done;
}

PyDoc_STRVAR(get_doc, "get() -> list: the elements, in the order in which they came.");

static PyObject *get(Cell *self, PyObject *nothing)
{
    (void)nothing;
    return cell_look(self) ? NULL : list_values(self->table, self->row);
}

static PyObject *iterate(Cell *self)
{
    PyObject *list = get(self, NULL), *iterator = list == NULL ? NULL : PyObject_GetIter(list);
    Py_XDECREF(list);
    return iterator;
}

static Py_ssize_t length(Cell *self)
{
    return cell_look(self) ? -1 : self->row == NULL ? 0 : (Py_ssize_t)*list_count(self->row);
}

static PyObject *list_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    PyObject *scope, *table;
    if (options != NULL && PyDict_GET_SIZE(options)) {
        PyErr_SetString(PyExc_TypeError, "ListCell() takes no keywords");
        return NULL;
    }
    return PyArg_ParseTuple(args, "OO", &scope, &table) ? (PyObject *)cell_of(type, scope, table, LIST, 1) : NULL;
}

static PyMethodDef list_methods[] = {
    {"add", (PyCFunction)add, METH_O, add_doc},
    {"add_all", (PyCFunction)add_all, METH_O, add_all_doc},
    {"get", (PyCFunction)get, METH_NOARGS, get_doc},
    {"update", (PyCFunction)update, METH_O, update_doc},
    {"clear", (PyCFunction)clear, METH_NOARGS, clear_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot list_slots[] = {
    {Py_tp_new, list_new},
    {Py_tp_doc, "ListCell(scope, table): the list that a state has for the scope's key."},
    {Py_tp_dealloc, cell_dealloc},
    {Py_tp_traverse, cell_traverse},
    {Py_tp_clear, cell_clear},
    {Py_tp_methods, list_methods},
    {Py_tp_iter, iterate},
    {Py_sq_length, length},
    {0, NULL},
};

PyType_Spec rows_list_spec = {"viper._rows.ListCell", sizeof(Cell), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, list_slots};
