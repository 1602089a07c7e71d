/* Whether times are in order: where they first go back. */
#include "rows.h"

enum { BLOCK = 256 }; /* so many are compared before any is looked at, which lets compilers use vectors */

static int goes_back(const int64_t *times, Py_ssize_t count)
{
    int found = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        found |= times[i + 1] < times[i];
    return found;
}

PyObject *rows_descent(PyObject *module, PyObject *buffer)
{
    (void)module;
    Py_buffer data;
    if (PyObject_GetBuffer(buffer, &data, PyBUF_SIMPLE))
        return NULL;
    const int64_t *times = data.buf;
    Py_ssize_t last = data.len / (Py_ssize_t)sizeof *times - 1, at = 0;
    while (last - at >= BLOCK && !goes_back(times + at, BLOCK))
        at += BLOCK;
    while (at < last && times[at] <= times[at + 1])
        at++;
    Py_ssize_t found = at < last ? at + 1 : -1;
    PyBuffer_Release(&data);
    return PyLong_FromSsize_t(found);
}
