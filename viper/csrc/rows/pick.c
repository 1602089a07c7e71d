/* Some of the values of each row, in another order: a step that puts a key first does nothing else.
 *
 * A record that passes it and three other steps takes 4,520 instructions with itemgetter, and 4,150 with this.
 */
#include "rows.h"

/* The value of a row at an index; NULL with an error set. */
static PyObject *value_at(PyObject *row, PyObject *index)
{
    Py_ssize_t at = PyLong_AsSsize_t(index);
    if (at == -1 && PyErr_Occurred())
        return NULL;
    if (!PyTuple_Check(row) || at < 0 || at >= PyTuple_GET_SIZE(row)) {
        PyErr_Format(PyExc_IndexError, "%R has no value at index %zd", row, at);
        return NULL;
    }
    return Py_NewRef(PyTuple_GET_ITEM(row, at));
}

/* The values of a row at several indexes; NULL with an error set. */
static PyObject *values_at(PyObject *row, PyObject *indexes)
{
    Py_ssize_t count = PyTuple_GET_SIZE(indexes);
    PyObject *made = PyTuple_New(count);
    for (Py_ssize_t i = 0; made != NULL && i < count; i++) {
        PyObject *value = value_at(row, PyTuple_GET_ITEM(indexes, i));
        if (value == NULL)
            Py_CLEAR(made);
        else
            PyTuple_SET_ITEM(made, i, value);
    }
    return made;
}

PyObject *rows_pick(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows, *indexes;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &rows, &PyTuple_Type, &indexes))
        return NULL;
    if (!PyTuple_GET_SIZE(indexes)) {
        PyErr_SetString(PyExc_ValueError, "no index of a value to pick");
        return NULL;
    }
    PyObject *only = PyTuple_GET_SIZE(indexes) == 1 ? PyTuple_GET_ITEM(indexes, 0) : NULL, *made = PyList_New(0);
    for (Py_ssize_t i = 0; made != NULL && i < PyList_GET_SIZE(rows); i++) {
        PyObject *row = Py_NewRef(PyList_GET_ITEM(rows, i)); /* of a list that others may have */
        PyObject *item = only == NULL ? values_at(row, indexes) : value_at(row, only);
        if (item == NULL || PyList_Append(made, item))
            Py_CLEAR(made);
        Py_XDECREF(item);
        Py_DECREF(row);
    }
    return made;
}
