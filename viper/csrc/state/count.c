/* The rows of a batch counted by their keys, one after the other, in a state of one integer. */
#include "state.h"

/* Counts one more row of a key: 0, or -1 with an error set. */
static int count_one(KeyedTable *table, const Key *key, int64_t *count)
{
    int64_t group = table_group(table, key);
    vp_savepoint before = vp_writer_savepoint(table->writer);
    vp_row *row = group < 0 ? NULL : table_enter(table, (uint64_t)group, key);
    if (row == NULL || table_touch(table, (uint64_t)group, row)) {
        table_back(table, before);
        return -1;
    }
    if (vp_writer_reserve(table->writer, 1)) {
        table_back(table, before);
        table_is_full(table);
        return -1;
    }
    vp_word *word = (vp_word *)row_words(row);
    *count = (int64_t)vp_read(word) + 1;
    vp_write(table->writer, word, (uint64_t)*count);
    return 0;
}

/* The values of a row that are its key, and the count behind them; NULL with an error set. Without indexes a row is its key. */
static PyObject *counted(PyObject *row, PyObject *indexes, int64_t count)
{
    Py_ssize_t width = indexes == NULL ? 1 : PyTuple_GET_SIZE(indexes);
    PyObject *number = PyLong_FromLongLong(count), *made = number == NULL ? NULL : PyTuple_New(width + 1);
    if (made == NULL) {
        Py_XDECREF(number);
        return NULL;
    }
    if (indexes == NULL)
        PyTuple_SET_ITEM(made, 0, Py_NewRef(row));
    for (Py_ssize_t i = 0; indexes != NULL && i < width; i++)
        PyTuple_SET_ITEM(made, i, Py_NewRef(PyTuple_GET_ITEM(row, PyLong_AsSsize_t(PyTuple_GET_ITEM(indexes, i)))));
    PyTuple_SET_ITEM(made, width, number);
    return made;
}

/* Counts a row, and appends what comes of it: 0, or -1 with an error set, and nothing has changed. */
static int count_row(KeyedTable *table, PyObject *row, PyObject *indexes, PyObject *made)
{
    int64_t count = 0;
    vp_savepoint before = vp_writer_savepoint(table->writer);
    if (indexes != NULL && !PyTuple_Check(row)) {
        PyErr_Format(PyExc_TypeError, "%R is no tuple of a row's values", row);
        return -1;
    }
    int failed = indexes == NULL ? key_of_value(&table->key, row, &table->rare)
                                 : key_of_row(&table->key, row, indexes, &table->rare);
    if (failed || count_one(table, &table->key, &count))
        return -1;
    PyObject *output = counted(row, indexes, count);
    failed = output == NULL || PyList_Append(made, output);
    Py_XDECREF(output);
    if (failed)
        table_back(table, before);
    return failed ? -1 : 0;
}

PyObject *table_count_rows(KeyedTable *self, PyObject *args)
{
    PyObject *rows, *indexes, *made;
    if (!PyArg_ParseTuple(args, "O!OO!", &PyList_Type, &rows, &indexes, &PyList_Type, &made))
        return NULL;
    indexes = indexes == Py_None ? NULL : indexes;
    if (indexes != NULL && !PyTuple_CheckExact(indexes)) {
        PyErr_Format(PyExc_TypeError, "%R is no tuple of indexes, and not None", indexes);
        return NULL;
    }
    if (indexes != NULL && !PyTuple_GET_SIZE(indexes)) {
        PyErr_SetString(PyExc_ValueError, "a key has at least one field");
        return NULL;
    }
    if (self->kind != COLUMNS || PyBytes_GET_SIZE(self->codes) != 1 || PyBytes_AS_STRING(self->codes)[0] != INTEGER) {
        PyErr_Format(PyExc_TypeError, "state %U is no single integer, which rows could be counted in", self->name);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); i++) {
        PyObject *row = Py_NewRef(PyList_GET_ITEM(rows, i)); /* a key's own code might take it out */
        int failed = count_row(self, row, indexes, made);
        Py_DECREF(row);
        if (failed)
            return NULL;
    }
    Py_RETURN_NONE;
}
