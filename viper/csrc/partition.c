/* Dividing rows among targets. */
#include "rows.h"

static PyObject *divide(PyObject *rows, const uint16_t *targets, Py_ssize_t parts)
{
    Py_ssize_t count = PyList_GET_SIZE(rows);
    PyObject *divided = PyList_New(parts);
    for (Py_ssize_t i = 0; divided != NULL && i < parts; i++) {
        PyObject *part = PyList_New(0);
        if (part == NULL || PyList_SetItem(divided, i, part))
            Py_CLEAR(divided);
    }
    for (Py_ssize_t i = 0; divided != NULL && i < count; i++) {
        if (targets[i] < parts) {
            if (PyList_Append(PyList_GET_ITEM(divided, targets[i]), PyList_GET_ITEM(rows, i)))
                Py_CLEAR(divided);
        }
    }
    return divided;
}

PyObject *rows_partition(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows, *targets, *divided = NULL;
    Py_ssize_t parts;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "O!On", &PyList_Type, &rows, &targets, &parts) ||
        PyObject_GetBuffer(targets, &view, PyBUF_SIMPLE))
        return NULL;
    if (parts < 0 || view.len != PyList_GET_SIZE(rows) * (Py_ssize_t)sizeof(uint16_t))
        PyErr_Format(PyExc_ValueError, "%zd rows need as many 16-bit targets, found %zd bytes",
                     PyList_GET_SIZE(rows), view.len);
    else
        divided = divide(rows, view.buf, parts);
    PyBuffer_Release(&view);
    return divided;
}
