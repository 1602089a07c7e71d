/* Dividing rows among targets. */
#include "rows.h"

static PyObject *empty_parts(Py_ssize_t count)
{
    PyObject *parts = PyList_New(count);
    for (Py_ssize_t i = 0; parts != NULL && i < count; i++) {
        PyObject *part = PyList_New(0);
        if (part == NULL)
            Py_CLEAR(parts);
        else
            PyList_SET_ITEM(parts, i, part);
    }
    return parts;
}

/* Fills the parts; -1 with an error set. */
static int divide(PyObject *rows, const Py_buffer *targets, PyObject *parts)
{
    Py_ssize_t count = PyList_GET_SIZE(rows), part_count = PyList_GET_SIZE(parts);
    const uint16_t *target = targets->buf;
    if (targets->len != count * (Py_ssize_t)sizeof(uint16_t)) {
        PyErr_Format(PyExc_ValueError, "%zd rows need as many 16-bit targets, found %zd bytes", count, targets->len);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (target[i] < part_count && PyList_Append(PyList_GET_ITEM(parts, target[i]), PyList_GET_ITEM(rows, i)))
            return -1;
    return 0;
}

PyObject *rows_partition(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows, *targets, *parts;
    Py_ssize_t count;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "O!On", &PyList_Type, &rows, &targets, &count))
        return NULL;
    if (count < 0) {
        PyErr_Format(PyExc_ValueError, "%zd parts", count);
        return NULL;
    }
    if (PyObject_GetBuffer(targets, &view, PyBUF_SIMPLE))
        return NULL;
    parts = empty_parts(count);
    if (parts != NULL && divide(rows, &view, parts))
        Py_CLEAR(parts);
    PyBuffer_Release(&view);
    return parts;
}
