/* Values that may cross by reference. */
#include "rows.h"

/* Values that are looked at within the tuples of one emit. A tuple that holds another one twice, and so
 * on, is as good as exponentially many; pickle, on the slow path, sees each once. */
enum { MOST_VISITS = 1 << 20 };

/* Exactly immutable values: what a component does later cannot change them. Anything else (a
 * subclass included, as it may carry attributes) is left to the slow path, which snapshots it. */
static int is_plain(PyObject *value, int *visits)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyUnicode_Type || type == &PyLong_Type || type == &PyFloat_Type || value == Py_None ||
        type == &PyBool_Type || type == &PyBytes_Type || type == &PyComplex_Type)
        return 1;
    if (type != &PyTuple_Type || Py_EnterRecursiveCall(" in a nested tuple"))
        return 0;
    Py_ssize_t size = PyTuple_GET_SIZE(value);
    int plain = size <= MOST_VISITS - *visits;
    *visits += plain ? (int)size : 0;
    for (Py_ssize_t i = 0; plain && i < size; i++)
        plain = is_plain(PyTuple_GET_ITEM(value, i), visits);
    Py_LeaveRecursiveCall();
    return plain;
}

PyObject *rows_is_plain(PyObject *module, PyObject *value)
{
    (void)module;
    int visits = 0;
    int plain = is_plain(value, &visits);
    if (PyErr_Occurred()) /* nested too deeply to look into: not plain */
        PyErr_Clear();
    return PyBool_FromLong(plain);
}

/* A tuple that is what it holds: named values, too, but no class that iterates in a way of its own. */
static int is_ordinary_tuple(PyObject *values)
{
    return PyTuple_Check(values) && Py_TYPE(values)->tp_iter == PyTuple_Type.tp_iter;
}

PyObject *rows_plain_row(PyObject *values, Py_ssize_t arity)
{
    int is_list = Py_TYPE(values) == &PyList_Type;
    if (!is_list && !is_ordinary_tuple(values))
        return NULL;
    Py_ssize_t size = is_list ? PyList_GET_SIZE(values) : PyTuple_GET_SIZE(values);
    int visits = 0;
    if (arity >= 0 && size != arity)
        return NULL;
    PyObject *row = PyTuple_New(size);
    /* Before 3.12 an allocation may collect garbage, whose finalizers may change the list. */
    if (row != NULL && is_list && PyList_GET_SIZE(values) != size)
        Py_CLEAR(row);
    for (Py_ssize_t i = 0; row != NULL && i < size; i++) {
        PyObject *value = is_list ? PyList_GET_ITEM(values, i) : PyTuple_GET_ITEM(values, i);
        if (!is_plain(value, &visits)) {
            Py_DECREF(row);
            if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_RecursionError))
                PyErr_Clear();
            return NULL;
        }
        Py_INCREF(value);
        PyTuple_SET_ITEM(row, i, value);
    }
    return row;
}
