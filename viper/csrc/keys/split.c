/* Rows in the order of their parts, so that one take and a slice for each part divide a record batch: 1 ns a row,
 * where an argsort of the targets takes 20 and more. */
#include "rows/rows.h" /* first, as Python.h wants it */

#include "hashing.h"

/* Where each part begins, behind the parts before it; the last bound is the number of rows that are kept. */
static void find_bounds(const uint16_t *targets, Py_ssize_t count, uint32_t *bounds, Py_ssize_t parts)
{
    memset(bounds, 0, (size_t)(parts + 1) * sizeof *bounds);
    for (Py_ssize_t i = 0; i < count; i++)
        if (targets[i] < parts)
            bounds[targets[i] + 1]++;
    for (Py_ssize_t part = 0; part < parts; part++)
        bounds[part + 1] += bounds[part];
}

static void place(const uint16_t *targets, Py_ssize_t count, uint32_t *next, Py_ssize_t parts, uint32_t *indexes)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (targets[i] < parts)
            indexes[next[targets[i]]++] = (uint32_t)i;
}

static PyObject *as_list(const uint32_t *bounds, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *bound = PyLong_FromUnsignedLong(bounds[i]);
        if (bound == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, bound);
    }
    return list;
}

static PyObject *split(const uint16_t *targets, Py_ssize_t count, Py_ssize_t parts)
{
    uint32_t *bounds = PyMem_New(uint32_t, parts + 1);
    if (bounds == NULL)
        return PyErr_NoMemory();
    find_bounds(targets, count, bounds, parts);
    PyObject *starts = as_list(bounds, parts + 1);
    PyObject *indexes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(bounds[parts] * sizeof(uint32_t)));
    if (starts != NULL && indexes != NULL)
        place(targets, count, bounds, parts, (uint32_t *)(void *)PyBytes_AS_STRING(indexes));
    PyMem_Free(bounds);
    if (starts != NULL && indexes != NULL)
        return Py_BuildValue("NN", indexes, starts);
    Py_XDECREF(starts);
    Py_XDECREF(indexes);
    return NULL;
}

PyObject *hashing_split(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer targets;
    Py_ssize_t parts;
    PyObject *found = NULL;
    if (!PyArg_ParseTuple(args, "y*n", &targets, &parts))
        return NULL;
    Py_ssize_t count = targets.len / (Py_ssize_t)sizeof(uint16_t);
    if (targets.len % (Py_ssize_t)sizeof(uint16_t) || (uint64_t)count > UINT32_MAX)
        PyErr_Format(PyExc_ValueError, "%zd bytes are no 16-bit targets of rows", targets.len);
    else if (!check_parts(parts))
        found = split(targets.buf, count, parts);
    PyBuffer_Release(&targets);
    return found;
}
