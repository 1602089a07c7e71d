/* Many rows in one call: appended to an outbox, and counted by their inputs. */
#include "rows.h"

/* Appends row tuples to a port that is kept; -1 with an error set. */
static int outbox_extend_by(Outbox *self, Py_ssize_t port, PyObject *rows)
{
    Py_ssize_t size = PyList_GET_SIZE(self->rows), count = PyList_GET_SIZE(rows);
    if (self->port_count == 1)
        return PyList_SetSlice(self->rows, size, size, rows);
    for (Py_ssize_t i = 0; i < count && i < PyList_GET_SIZE(rows); i++)
        if (rows_outbox_keep(self, port, PyList_GET_ITEM(rows, i), NULL))
            return -1;
    return 0;
}

PyObject *rows_outbox_extend(Outbox *self, PyObject *args)
{
    Py_ssize_t port;
    PyObject *rows;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "nO!", &port, &PyList_Type, &rows))
        return NULL;
    if (port < 0 || port >= self->port_count) {
        PyErr_Format(PyExc_IndexError, "no port %zd: there are %zd", port, self->port_count);
        return NULL;
    }
    Py_BEGIN_CRITICAL_SECTION2(self, rows);
    if (self->ports[port].keep)
        failed = outbox_extend_by(self, port, rows);
    else
        self->discarded += (unsigned long long)PyList_GET_SIZE(rows);
    Py_END_CRITICAL_SECTION2();
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* Writes the ends of the outputs whose inputs are given; 1 done, 0 not ascending, -1 with an error set. */
static int write_ends(PyObject *inputs, uint32_t *ends, Py_ssize_t count)
{
    Py_ssize_t size = PySequence_Fast_GET_SIZE(inputs), before = 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        Py_ssize_t input = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(inputs, i), PyExc_IndexError);
        if (input == -1 && PyErr_Occurred())
            return -1;
        if (input < 0 || input >= count) {
            PyErr_Format(PyExc_IndexError, "output %zd is of input %zd: there are %zd inputs", i, input, count);
            return -1;
        }
        if (input < before)
            return 0;
        for (; before < input; before++)
            ends[before] = (uint32_t)i;
    }
    for (; before < count; before++)
        ends[before] = (uint32_t)size;
    return 1;
}

PyObject *rows_ends(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *of, *inputs, *made;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "On", &of, &count))
        return NULL;
    if (count < 0) {
        PyErr_Format(PyExc_ValueError, "%zd inputs", count);
        return NULL;
    }
    /* A list may change while its numbers are read, which run code of theirs; a tuple does not. */
    inputs = PySequence_Tuple(of);
    if (inputs == NULL)
        return NULL;
    made = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    int done = made == NULL ? -1 : write_ends(inputs, (uint32_t *)(void *)PyBytes_AS_STRING(made), count);
    Py_DECREF(inputs);
    if (done == 1)
        return made;
    Py_XDECREF(made);
    if (done < 0)
        return NULL;
    Py_RETURN_NONE;
}
