/* Rows that a component made by the block, looked at before they go anywhere: 1 ns a row, where
 * set(map(len, rows)) takes 17 and does not see a list. */
#include "rows.h"

PyObject *rows_misfit(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows;
    Py_ssize_t arity;
    if (!PyArg_ParseTuple(args, "O!n", &PyList_Type, &rows, &arity))
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); i++) {
        PyObject *row = PyList_GET_ITEM(rows, i);
        if (!PyTuple_Check(row) || (arity >= 0 && PyTuple_GET_SIZE(row) != arity))
            return PyLong_FromSsize_t(i);
    }
    Py_RETURN_NONE;
}
