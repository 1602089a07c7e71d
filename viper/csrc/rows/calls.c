/* A function that is called with the values of row after row: what a function bolt does with a batch.
 *
 * An exception ends the calls, and is returned beside what came of the rows before. Exceptions that are no Exception, such
 * as KeyboardInterrupt, are raised.
 */
#include "rows.h"

/* The function's answer for the row at an index of a list; NULL with an error set. */
static PyObject *called_with(PyObject *function, PyObject *rows, Py_ssize_t index)
{
    PyObject *row = Py_NewRef(PyList_GET_ITEM(rows, index)), *answer;
    if (PyTuple_CheckExact(row)) {
        answer = PyObject_Vectorcall(function, &PyTuple_GET_ITEM(row, 0), (size_t)PyTuple_GET_SIZE(row), NULL);
    } else {
        PyErr_Format(PyExc_TypeError, "row %zd is no tuple: %R", index, row);
        answer = NULL;
    }
    Py_DECREF(row);
    return answer;
}

/* What is kept of an answer (whose reference is taken over), in a row of its own if `packs`; NULL with an error set. */
static PyObject *kept_answer(PyObject *answer, int packs)
{
    PyObject *made = answer == NULL ? NULL : rows_kept(NULL, answer);
    Py_XDECREF(answer);
    if (made == NULL || !packs)
        return made;
    PyObject *row = PyTuple_New(1);
    if (row == NULL)
        Py_DECREF(made);
    else
        PyTuple_SET_ITEM(row, 0, made);
    return row;
}

/* Appends what is kept of an answer (whose reference is taken over); -1 with an error set. */
static int append_kept(PyObject *made, PyObject *answer, int packs)
{
    PyObject *item = kept_answer(answer, packs);
    int failed = item == NULL || PyList_Append(made, item);
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

PyObject *rows_caught(void)
{
    if (!PyErr_Occurred())
        return Py_NewRef(Py_None);
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return NULL;
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
#endif
}

PyObject *rows_call_each(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *function, *rows, *made;
    int packs;
    if (!PyArg_ParseTuple(args, "OO!O!p", &function, &PyList_Type, &rows, &PyList_Type, &made, &packs))
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); i++)
        if (append_kept(made, called_with(function, rows, i), packs))
            break;
    return rows_caught();
}

/* Appends what is kept of each item of an answer (whose reference is taken over); -1 with an error set. */
static int append_items(PyObject *made, PyObject *answer, int packs)
{
    PyObject *item, *items = answer == NULL ? NULL : PyObject_GetIter(answer);
    Py_XDECREF(answer);
    if (items == NULL)
        return -1;
    int failed = 0;
    while (!failed && (item = PyIter_Next(items)) != NULL)
        failed = append_kept(made, item, packs);
    Py_DECREF(items);
    return failed || PyErr_Occurred() ? -1 : 0;
}

/* Appends the row at an index of a list if the answer for it (whose reference is taken over) is true; -1 with an error set. */
static int append_chosen(PyObject *made, PyObject *rows, Py_ssize_t index, PyObject *answer)
{
    int chosen = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    if (chosen <= 0 || index >= PyList_GET_SIZE(rows))
        return chosen < 0 ? -1 : 0;
    return PyList_Append(made, PyList_GET_ITEM(rows, index));
}

/* The length of `made` behind each row, as bytes, and the exception that ended the calls or None. */
static PyObject *with_ends(PyObject *ends, Py_ssize_t done)
{
    PyObject *error = rows_caught();
    if (error == NULL || _PyBytes_Resize(&ends, done * (Py_ssize_t)sizeof(uint32_t))) {
        Py_XDECREF(error == NULL ? ends : error);
        return NULL;
    }
    return Py_BuildValue("(NN)", ends, error);
}

PyObject *rows_call_flat(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *function, *rows, *made;
    int packs, failed = 0;
    Py_ssize_t done = 0, before = 0;
    if (!PyArg_ParseTuple(args, "OO!O!p", &function, &PyList_Type, &rows, &PyList_Type, &made, &packs))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(rows);
    PyObject *ends = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    if (ends == NULL)
        return NULL;
    for (; !failed && done < count && done < PyList_GET_SIZE(rows); done += !failed) {
        before = PyList_GET_SIZE(made);
        failed = append_items(made, called_with(function, rows, done), packs);
        if (!failed)
            ((uint32_t *)(void *)PyBytes_AS_STRING(ends))[done] = (uint32_t)PyList_GET_SIZE(made);
    }
    PyObject *answer = with_ends(ends, done);
    if (answer != NULL && failed && PyList_SetSlice(made, before, PyList_GET_SIZE(made), NULL))
        Py_CLEAR(answer);
    return answer;
}

PyObject *rows_call_choosing(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *function, *rows, *made;
    int failed = 0;
    Py_ssize_t done = 0;
    if (!PyArg_ParseTuple(args, "OO!O!", &function, &PyList_Type, &rows, &PyList_Type, &made))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(rows);
    PyObject *ends = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    if (ends == NULL)
        return NULL;
    for (; !failed && done < count && done < PyList_GET_SIZE(rows); done += !failed) {
        failed = append_chosen(made, rows, done, called_with(function, rows, done));
        if (!failed)
            ((uint32_t *)(void *)PyBytes_AS_STRING(ends))[done] = (uint32_t)PyList_GET_SIZE(made);
    }
    return with_ends(ends, done);
}
