/* The rows of a shared table, for whoever fills it before a run, looks at it behind one, or records transactions on it. */
#include "tx.h"

int tx_is_rows(PyObject *candidate)
{
    return PyType_GetSlot(Py_TYPE(candidate), Py_tp_new) == tx_rows_spec.slots[0].pfunc;
}

static int check_row(const SharedRows *self, long long row)
{
    if (row >= 0 && (uint64_t)row < vp_shared_entered(self->rows))
        return 0;
    PyErr_Format(PyExc_IndexError, "table %U has no row %lld", self->name, row);
    return -1;
}

static int check_set(const SharedRows *self, int column)
{
    if (column >= 0 && column < self->columns && self->kinds[column] == TX_SET)
        return 0;
    PyErr_Format(PyExc_IndexError, "column %d of table %U is no set", column, self->name);
    return -1;
}

PyDoc_STRVAR(enter_doc, "enter(key, full) -> int: the number of a key's row, entered if need be; `full` is raised without room.");

static PyObject *enter(SharedRows *self, PyObject *args)
{
    PyObject *key, *full;
    RowKey scratch = {0};
    if (!PyArg_ParseTuple(args, "OO", &key, &full))
        return NULL;
    int64_t row = tx_row(self, key, &scratch, full);
    tx_key_clear(&scratch);
    return row < 0 ? NULL : PyLong_FromLongLong(row);
}

static PyObject *found_row(vp_shared *rows, RowKey *key)
{
    int64_t row = vp_shared_find(rows, key->hash, key->data, key->length);
    tx_key_clear(key);
    return row < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(row);
}

PyDoc_STRVAR(find_doc, "find(key) -> int | None: the number of a key's row.");

static PyObject *find(SharedRows *self, PyObject *value)
{
    RowKey key = {0};
    if (tx_key_make(self, value, &key)) {
        tx_key_clear(&key);
        return NULL;
    }
    return found_row(self->rows, &key);
}

PyDoc_STRVAR(key_doc, "key(row) -> object | None: a row's key; None for a number whose process has died while it entered the row.");

static PyObject *key(SharedRows *self, PyObject *number)
{
    uint64_t length;
    long long row = PyLong_AsLongLong(number);
    if ((row == -1 && PyErr_Occurred()) || check_row(self, row))
        return NULL;
    const unsigned char *data = vp_shared_key(self->rows, (uint64_t)row, &length);
    return data == NULL ? Py_NewRef(Py_None) : tx_key_value(self, data, length);
}

PyDoc_STRVAR(get_doc, "get(row) -> tuple | None: its values, of sets how many elements; None where the row is not there.");

static PyObject *get(SharedRows *self, PyObject *number)
{
    long long row = PyLong_AsLongLong(number);
    if ((row == -1 && PyErr_Occurred()) || check_row(self, row))
        return NULL;
    if (!vp_shared_is_present(self->rows, (uint64_t)row))
        Py_RETURN_NONE;
    PyObject *values = PyTuple_New(self->columns);
    for (int i = 0; values != NULL && i < self->columns; i++) {
        PyObject *value = tx_number(self->kinds[i], vp_shared_get(self->rows, (uint64_t)row, (uint32_t)i));
        if (value == NULL)
            Py_CLEAR(values);
        else
            PyTuple_SET_ITEM(values, i, value);
    }
    return values;
}

static int words_of(const SharedRows *self, PyObject *values, int64_t *words)
{
    if (PyTuple_GET_SIZE(values) != self->columns) {
        PyErr_Format(PyExc_ValueError, "a row of table %U has %d values; found %zd", self->name, self->columns,
                     PyTuple_GET_SIZE(values));
        return -1;
    }
    for (int i = 0; i < self->columns; i++)
        if (tx_word(self, i, PyTuple_GET_ITEM(values, i), &words[i]))
            return -1;
    return 0;
}

PyDoc_STRVAR(pack_doc, "pack(values) -> bytes: the words of a row with these values, of sets how many elements.");

static PyObject *pack(SharedRows *self, PyObject *values)
{
    int64_t words[VP_SHARED_COLUMNS];
    if (!PyTuple_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "the values of a row are a tuple");
        return NULL;
    }
    if (words_of(self, values, words))
        return NULL;
    return PyBytes_FromStringAndSize((char *)words, self->columns * (Py_ssize_t)sizeof *words);
}

PyDoc_STRVAR(put_doc, "put(row, values): make a row present, where nobody evaluates.");

static PyObject *put(SharedRows *self, PyObject *args)
{
    long long row;
    PyObject *values;
    int64_t words[VP_SHARED_COLUMNS];
    if (!PyArg_ParseTuple(args, "LO!", &row, &PyTuple_Type, &values) || check_row(self, row) || words_of(self, values, words))
        return NULL;
    vp_shared_put(self->rows, (uint64_t)row, words);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(generation_doc, "generation(row) -> int: what the elements of the row's sets have in their column.");

static PyObject *generation(SharedRows *self, PyObject *number)
{
    long long row = PyLong_AsLongLong(number);
    if ((row == -1 && PyErr_Occurred()) || check_row(self, row))
        return NULL;
    return PyLong_FromUnsignedLongLong(vp_shared_generation(self->rows, (uint64_t)row));
}

/* Whether an element that was entered is in its set now. */
static int is_element(const SharedRows *self, uint64_t element, int64_t row)
{
    return vp_shared_is_present(self->elements, element) &&
           (uint64_t)vp_shared_get(self->elements, element, 0) == vp_shared_generation(self->rows, (uint64_t)row);
}

PyDoc_STRVAR(enter_element_doc, "enter_element(row, column, element, full) -> (int, bool): the number of an element, and whether it is in the set.");

static PyObject *enter_element(SharedRows *self, PyObject *args)
{
    long long row;
    int column;
    PyObject *value, *full;
    RowKey scratch = {0};
    if (!PyArg_ParseTuple(args, "LiOO", &row, &column, &value, &full) || check_row(self, row) || check_set(self, column))
        return NULL;
    int64_t element = tx_element(self, row, column, value, &scratch, full);
    tx_key_clear(&scratch);
    if (element < 0)
        return NULL;
    return Py_BuildValue("LO", (long long)element, is_element(self, (uint64_t)element, row) ? Py_True : Py_False);
}

PyDoc_STRVAR(put_element_doc, "put_element(row, element): put an element that was entered into the row's set, where nobody evaluates.");

static PyObject *put_element(SharedRows *self, PyObject *args)
{
    long long row, element;
    if (!PyArg_ParseTuple(args, "LL", &row, &element) || check_row(self, row))
        return NULL;
    if (self->elements == NULL || element < 0 || (uint64_t)element >= vp_shared_entered(self->elements)) {
        PyErr_Format(PyExc_IndexError, "table %U has no element %lld", self->name, element);
        return NULL;
    }
    int64_t generation = (int64_t)vp_shared_generation(self->rows, (uint64_t)row);
    vp_shared_put(self->elements, (uint64_t)element, &generation);
    Py_RETURN_NONE;
}

static int append_element(SharedRows *self, PyObject *found, uint64_t number)
{
    uint64_t length;
    int64_t row;
    int column;
    const unsigned char *data = vp_shared_key(self->elements, number, &length);
    PyObject *value = data == NULL ? NULL : tx_element_value(data, length, &row, &column);
    if (value == NULL)
        return data == NULL ? 0 : -1;
    if (!is_element(self, number, row)) {
        Py_DECREF(value);
        return 0;
    }
    PyObject *item = Py_BuildValue("LiN", (long long)row, column, value);
    int failed = item == NULL || PyList_Append(found, item);
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

PyDoc_STRVAR(elements_doc, "elements(first=0, count=all) -> list of (row, column, element): those that are in sets, of so many of\n"
                           "the elements that were entered.");

static PyObject *elements(PyObject *object, PyObject *args)
{
    SharedRows *self = (SharedRows *)object;
    unsigned long long first = 0, most = UINT64_MAX;
    if (!PyArg_ParseTuple(args, "|KK", &first, &most))
        return NULL;
    PyObject *found = PyList_New(0);
    uint64_t count = self->elements == NULL ? 0 : vp_shared_entered(self->elements);
    if (first < count && most < count - first)
        count = first + most;
    for (uint64_t i = first; found != NULL && i < count; i++)
        if (append_element(self, found, i))
            Py_CLEAR(found);
    return found;
}

static Py_ssize_t length(SharedRows *self)
{
    return (Py_ssize_t)vp_shared_entered(self->rows);
}

static int take_kinds(SharedRows *self, PyObject *columns, PyObject *kinds, PyObject *parts)
{
    self->columns = (int)PyTuple_GET_SIZE(columns);
    self->parts = (int)PyBytes_GET_SIZE(parts);
    if (self->columns < 1 || self->columns > VP_SHARED_COLUMNS || PyBytes_GET_SIZE(kinds) != self->columns ||
        self->parts < 1 || self->parts > TX_KEY_PARTS || (self->is_single && self->parts != 1)) {
        PyErr_SetString(PyExc_ValueError, "no such rows: too few or too many columns, or parts of keys");
        return -1;
    }
    memcpy(self->kinds, PyBytes_AS_STRING(kinds), (size_t)self->columns);
    memcpy(self->parts_kinds, PyBytes_AS_STRING(parts), (size_t)self->parts);
    return 0;
}

static PyObject *rows_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    PyObject *owner, *address, *elements, *name, *columns, *kinds, *parts;
    int is_single;
    unsigned long long most_rows, most_elements;
    if (options != NULL && PyDict_GET_SIZE(options)) {
        PyErr_SetString(PyExc_TypeError, "SharedRows() takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OO!OUO!SSp(KK)", &owner, &PyLong_Type, &address, &elements, &name, &PyTuple_Type, &columns, &kinds,
                          &parts, &is_single, &most_rows, &most_elements))
        return NULL;
    SharedRows *self = (SharedRows *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->owner = Py_NewRef(owner);
    self->name = Py_NewRef(name);
    self->names = Py_NewRef(columns);
    self->is_single = is_single;
    self->most_rows = most_rows;
    self->most_elements = most_elements;
    self->rows = PyLong_AsVoidPtr(address);
    self->elements = elements == Py_None ? NULL : PyLong_AsVoidPtr(elements);
    if (PyErr_Occurred() || take_kinds(self, columns, kinds, parts))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void rows_dealloc(SharedRows *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    Py_CLEAR(self->name);
    Py_CLEAR(self->names);
    Py_CLEAR(self->owner);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef rows_methods[] = {
    {"enter", (PyCFunction)enter, METH_VARARGS, enter_doc},
    {"find", (PyCFunction)find, METH_O, find_doc},
    {"key", (PyCFunction)key, METH_O, key_doc},
    {"get", (PyCFunction)get, METH_O, get_doc},
    {"pack", (PyCFunction)pack, METH_O, pack_doc},
    {"put", (PyCFunction)put, METH_VARARGS, put_doc},
    {"generation", (PyCFunction)generation, METH_O, generation_doc},
    {"enter_element", (PyCFunction)enter_element, METH_VARARGS, enter_element_doc},
    {"put_element", (PyCFunction)put_element, METH_VARARGS, put_element_doc},
    {"elements", elements, METH_VARARGS, elements_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot rows_slots[] = {
    {Py_tp_new, rows_new}, /* first: see tx_is_rows */
    {Py_tp_doc, "SharedRows(owner, address, elements, name, columns, kinds, key_kinds, is_single, (rows, elements)): the rows of a\n"
                "shared table at an address, and of the elements of its sets, or None. Kinds are a byte each: q int64,\n"
                "d float64, s text, * set. The owner, which must not refer to them, keeps the memory."},
    {Py_tp_dealloc, rows_dealloc},
    {Py_tp_methods, rows_methods},
    {Py_sq_length, length},
    {0, NULL},
};

PyType_Spec tx_rows_spec = {"viper._rows.SharedRows", sizeof(SharedRows), 0, Py_TPFLAGS_DEFAULT, rows_slots};
