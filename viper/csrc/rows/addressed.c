/* Which rows concern whom. */
#include "addressed.h"

/* The groups of an addressed row, borrowed; NULL with an error set if it is none. */
static PyObject *groups_of_row(PyObject *row)
{
    PyObject *groups = NULL;
    if (PyTuple_Check(row) && PyTuple_GET_SIZE(row) >= ADDRESS_VALUES)
        groups = PyTuple_GET_ITEM(row, PyTuple_GET_SIZE(row) - ADDRESS_VALUES);
    if (groups == NULL || !PyTuple_Check(groups)) {
        PyErr_SetString(PyExc_TypeError, "an addressed row has a tuple of key groups before its last two values");
        return NULL;
    }
    return groups;
}

/* A group of a row; -1 with an error set if it is none. */
static long group_at(PyObject *groups, Py_ssize_t index)
{
    long group = PyLong_AsLong(PyTuple_GET_ITEM(groups, index));
    if (group < 0 && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "key group %ld", group);
    return group;
}

int mask_of_row(PyObject *row, int shift, uint64_t *mask)
{
    PyObject *groups = groups_of_row(row);
    *mask = 0;
    for (Py_ssize_t i = 0; groups != NULL && i < PyTuple_GET_SIZE(groups); i++) {
        long group = group_at(groups, i);
        if (group < 0)
            return -1;
        *mask |= UINT64_C(1) << (group >> shift & 63);
    }
    return groups == NULL ? -1 : 0;
}

/* Whether a row concerns groups from `start` up to `stop`; -1 with an error set. */
static int is_own(PyObject *row, long start, long stop)
{
    PyObject *groups = groups_of_row(row);
    if (groups == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(groups); i++) {
        long group = group_at(groups, i);
        if (group < 0)
            return -1;
        if (group >= start)
            return group < stop;
    }
    return 0;
}

PyObject *rows_own(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows;
    Py_ssize_t first, count;
    long start, stop;
    if (!PyArg_ParseTuple(args, "O!nnll", &PyList_Type, &rows, &first, &count, &start, &stop))
        return NULL;
    if (first < 0 || count < 0 || count > PyList_GET_SIZE(rows) - first) {
        PyErr_Format(PyExc_IndexError, "%zd rows from %zd on, of %zd", count, first, PyList_GET_SIZE(rows));
        return NULL;
    }
    PyObject *own = PyList_New(count);
    for (Py_ssize_t i = 0; own != NULL && i < count; i++) {
        PyObject *row = PyList_GET_ITEM(rows, first + i);
        int found = row == Py_None ? 0 : is_own(row, start, stop);
        if (found < 0)
            Py_CLEAR(own);
        else
            PyList_SET_ITEM(own, i, Py_NewRef(found ? row : Py_None));
    }
    return own;
}
