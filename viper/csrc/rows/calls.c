/* A function that is called with the values of row after row: what a function bolt does with a batch.
 *
 * An exception ends the calls, and is returned beside what came of the rows before. Exceptions that are no Exception, such
 * as KeyboardInterrupt, are raised.
 */
#include "rows.h"

/* What is called for each row, and with what. */
typedef struct {
    PyObject *function;
    PyObject *rows; /* list */
    PyObject *made; /* list that gets what comes of them */
    int bare;       /* whether the rows are values, each of which is the only one of its row */
    int plain;      /* whether nobody can change any of the results so far */
} Calls;

/* The function's answer for the row at an index of the list; NULL with an error set. */
static PyObject *called_with(const Calls *calls, Py_ssize_t index)
{
    PyObject *function = calls->function, *row = Py_NewRef(PyList_GET_ITEM(calls->rows, index)), *answer;
    if (calls->bare) {
        answer = PyObject_CallOneArg(function, row);
    } else if (PyTuple_CheckExact(row)) {
        answer = PyObject_Vectorcall(function, &PyTuple_GET_ITEM(row, 0), (size_t)PyTuple_GET_SIZE(row), NULL);
    } else {
        PyErr_Format(PyExc_TypeError, "row %zd is no tuple: %R", index, row);
        answer = NULL;
    }
    Py_DECREF(row);
    return answer;
}

/* Appends what is kept of an answer (whose reference is taken over); -1 with an error set. */
static int append_kept(Calls *calls, PyObject *answer)
{
    PyObject *item = answer == NULL ? NULL : rows_kept_plain(answer, &calls->plain);
    Py_XDECREF(answer);
    int failed = item == NULL || PyList_Append(calls->made, item);
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

/* What calls return (whose reference is taken over), and whether nobody can change any result; NULL with an error set. */
static PyObject *with_plain(const Calls *calls, PyObject *returned)
{
    return returned == NULL ? NULL : Py_BuildValue("(NN)", returned, PyBool_FromLong(calls->plain));
}

static int calls_parse(Calls *self, PyObject *args)
{
    *self = (Calls){.plain = 1};
    return PyArg_ParseTuple(args, "OO!O!|p", &self->function, &PyList_Type, &self->rows, &PyList_Type, &self->made,
                            &self->bare);
}

PyObject *rows_call_each(PyObject *module, PyObject *args)
{
    (void)module;
    Calls calls;
    if (!calls_parse(&calls, args))
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls.rows); i++)
        if (append_kept(&calls, called_with(&calls, i)))
            break;
    return with_plain(&calls, rows_caught());
}

/* Appends the items of a list (whose reference is taken over), which are kept as they are; -1 with an error set. A count by
 * functions takes 1,510 instructions a word in place of 1,590. */
static int append_all(const Calls *calls, PyObject *list)
{
    Py_ssize_t size = PyList_GET_SIZE(calls->made);
    int failed = PyList_SetSlice(calls->made, size, size, list);
    Py_DECREF(list);
    return failed;
}

/* Appends what is kept of each item of an answer (whose reference is taken over); -1 with an error set. */
static int append_items(Calls *calls, PyObject *answer)
{
    if (answer != NULL && PyList_CheckExact(answer) && rows_are_plain(answer))
        return append_all(calls, answer);
    PyObject *item, *items = answer == NULL ? NULL : PyObject_GetIter(answer);
    Py_XDECREF(answer);
    if (items == NULL)
        return -1;
    int failed = 0;
    while (!failed && (item = PyIter_Next(items)) != NULL)
        failed = append_kept(calls, item);
    Py_DECREF(items);
    return failed || PyErr_Occurred() ? -1 : 0;
}

/* Appends the row at an index of a list if the answer for it (whose reference is taken over) is true; -1 with an error set. */
static int append_chosen(const Calls *calls, Py_ssize_t index, PyObject *answer)
{
    int chosen = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    if (chosen <= 0 || index >= PyList_GET_SIZE(calls->rows))
        return chosen < 0 ? -1 : 0;
    return PyList_Append(calls->made, PyList_GET_ITEM(calls->rows, index));
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
    Calls calls;
    int failed = 0;
    Py_ssize_t done = 0, before = 0;
    if (!calls_parse(&calls, args))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(calls.rows);
    PyObject *ends = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    if (ends == NULL)
        return NULL;
    for (; !failed && done < count && done < PyList_GET_SIZE(calls.rows); done += !failed) {
        before = PyList_GET_SIZE(calls.made);
        failed = append_items(&calls, called_with(&calls, done));
        if (!failed)
            ((uint32_t *)(void *)PyBytes_AS_STRING(ends))[done] = (uint32_t)PyList_GET_SIZE(calls.made);
    }
    PyObject *answer = with_ends(ends, done);
    if (answer != NULL && failed && PyList_SetSlice(calls.made, before, PyList_GET_SIZE(calls.made), NULL))
        Py_CLEAR(answer);
    return with_plain(&calls, answer);
}

PyObject *rows_call_choosing(PyObject *module, PyObject *args)
{
    (void)module;
    Calls calls;
    int failed = 0;
    Py_ssize_t done = 0;
    if (!calls_parse(&calls, args))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(calls.rows);
    PyObject *ends = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    if (ends == NULL)
        return NULL;
    for (; !failed && done < count && done < PyList_GET_SIZE(calls.rows); done += !failed) {
        failed = append_chosen(&calls, done, called_with(&calls, done));
        if (!failed)
            ((uint32_t *)(void *)PyBytes_AS_STRING(ends))[done] = (uint32_t)PyList_GET_SIZE(calls.made);
    }
    return with_ends(ends, done);
}
