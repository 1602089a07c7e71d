/* From the input of each output to how many outputs there are up to each input. */
#include "rows.h"

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
