/* The indexes of what several sources bring, in one order. */
#include "rows.h"

/* Writes the next index of each chosen source; -1 with an error set. */
static int write_indexes(uint32_t *next, Py_ssize_t sources, const uint16_t *chosen, Py_ssize_t count, uint32_t *into)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (chosen[i] >= sources) {
            PyErr_Format(PyExc_IndexError, "row %zd is chosen from source %u: there are %zd", i, (unsigned)chosen[i],
                         sources);
            return -1;
        }
        into[i] = next[chosen[i]]++;
    }
    return 0;
}

/* The first index of each source, to be counted on; NULL with an error set. */
static uint32_t *first_indexes(PyObject *firsts)
{
    Py_ssize_t count = PyList_GET_SIZE(firsts);
    uint32_t *next = PyMem_New(uint32_t, count + 1);
    if (next == NULL)
        return (uint32_t *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
        next[i] = (uint32_t)PyLong_AsUnsignedLong(PyList_GET_ITEM(firsts, i));
    if (!PyErr_Occurred())
        return next;
    PyMem_Free(next);
    return NULL;
}

PyObject *rows_gather(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *firsts, *made = NULL;
    Py_buffer chosen;
    if (!PyArg_ParseTuple(args, "O!y*", &PyList_Type, &firsts, &chosen))
        return NULL;
    Py_ssize_t count = chosen.len / (Py_ssize_t)sizeof(uint16_t);
    uint32_t *next = first_indexes(firsts);
    if (next != NULL)
        made = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    if (made != NULL &&
        write_indexes(next, PyList_GET_SIZE(firsts), chosen.buf, count, (uint32_t *)(void *)PyBytes_AS_STRING(made)))
        Py_CLEAR(made);
    PyMem_Free(next);
    PyBuffer_Release(&chosen);
    return made;
}
