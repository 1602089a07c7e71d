/* Rows of several lists in one order: what rows_partition divides, put together. */
#include "rows.h"

/* Where a list has got to. */
typedef struct {
    PyObject *rows;
    Py_ssize_t next;
} cursor;

/* One for each list, from the index that `firsts` gives; NULL with an error set. */
static cursor *cursors_of(PyObject *lists, PyObject *firsts)
{
    Py_ssize_t count = PyList_GET_SIZE(lists);
    cursor *cursors = PyMem_New(cursor, count + 1);
    if (cursors == NULL)
        return (cursor *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        cursors[i].rows = PyList_GET_ITEM(lists, i);
        cursors[i].next = PyLong_AsSsize_t(PyList_GET_ITEM(firsts, i));
        if (!PyErr_Occurred() && (!PyList_Check(cursors[i].rows) || cursors[i].next < 0))
            PyErr_Format(PyExc_TypeError, "list %zd: expected a list of rows and an index from 0", i);
    }
    if (!PyErr_Occurred())
        return cursors;
    PyMem_Free(cursors);
    return NULL;
}

/* The rows in the order chosen; NULL with an error set. */
static PyObject *gather(cursor *cursors, Py_ssize_t list_count, const uint16_t *chosen, Py_ssize_t count)
{
    PyObject *rows = PyList_New(count);
    for (Py_ssize_t i = 0; rows != NULL && i < count; i++) {
        cursor *from = chosen[i] < list_count ? &cursors[chosen[i]] : NULL;
        if (from == NULL || from->next >= PyList_GET_SIZE(from->rows)) {
            PyErr_Format(PyExc_IndexError, "row %zd is chosen from list %u, which has no more", i, (unsigned)chosen[i]);
            Py_CLEAR(rows);
        } else {
            PyList_SET_ITEM(rows, i, Py_NewRef(PyList_GET_ITEM(from->rows, from->next++)));
        }
    }
    return rows;
}

PyObject *rows_interleave(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *lists, *firsts, *rows = NULL;
    Py_buffer chosen;
    if (!PyArg_ParseTuple(args, "O!O!y*", &PyList_Type, &lists, &PyList_Type, &firsts, &chosen))
        return NULL;
    if (PyList_GET_SIZE(lists) != PyList_GET_SIZE(firsts)) {
        PyErr_SetString(PyExc_ValueError, "expected one first index for each list");
    } else {
        cursor *cursors = cursors_of(lists, firsts);
        if (cursors != NULL)
            rows = gather(cursors, PyList_GET_SIZE(lists), chosen.buf, chosen.len / (Py_ssize_t)sizeof(uint16_t));
        PyMem_Free(cursors);
    }
    PyBuffer_Release(&chosen);
    return rows;
}
