/* The rows of a batch given to the values of their keys, one after the other: what a step by key does with them.
 *
 * The values lie in dictionaries of Python's, by their key: a row costs two or three lookups with the hash that a text
 * keeps, and the call. In Python the same loop took 1,050 ns a row beside the user's function, and here 190.
 */
#include "rows.h"

enum { MOST_ON_STACK = 16 }; /* arguments of a call that need no memory of their own */

typedef struct {
    PyObject *function;  /* makes the next value of the one before and of the row's values */
    PyObject *make;      /* makes the value before the first row; None: the first row's values are that */
    PyObject *result_of; /* makes the result of a value; None: that is the result */
    PyObject *spread;    /* makes the tuple of several results of what is none of that size, or raises */
    PyObject *changed;   /* dict of values that may differ from what is written */
    PyObject *kept;      /* dict of others */
    PyObject *read;      /* returns the value of a key that is in neither, `nothing` for none */
    PyObject *hashable;  /* returns what stands for a key that no dictionary takes */
    PyObject *nothing;
    Py_ssize_t width;   /* values of a row that are its key */
    Py_ssize_t results; /* values of an output behind those */
    int plain;          /* whether nobody can change any of the results so far */
} Fold;

/* The key of a row: its first value, or a tuple of the first ones; NULL with an error set. */
static PyObject *key_of_row(const Fold *fold, PyObject *row)
{
    return fold->width == 1 ? Py_NewRef(PyTuple_GET_ITEM(row, 0)) : PyTuple_GetSlice(row, 0, fold->width);
}

/* The value that a dictionary has for a key, `nothing` if it has none; NULL with an error set. */
static PyObject *looked_up(const Fold *fold, PyObject *values, PyObject *key)
{
    PyObject *found = PyDict_GetItemWithError(values, key); /* of the task's thread alone: nobody takes it out */
    return found != NULL ? Py_NewRef(found) : PyErr_Occurred() ? NULL : Py_NewRef(fold->nothing);
}

/* The value of a key before a row, `nothing` for none; NULL with an error set. May replace the key by what stands for it. */
static PyObject *value_before(const Fold *fold, PyObject **key)
{
    PyObject *found = looked_up(fold, fold->changed, *key);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) { /* such as a list */
        PyErr_Clear();
        Py_SETREF(*key, PyObject_CallOneArg(fold->hashable, *key));
        found = *key == NULL ? NULL : looked_up(fold, fold->changed, *key);
    }
    if (found == fold->nothing)
        Py_SETREF(found, looked_up(fold, fold->kept, *key));
    if (found == fold->nothing)
        Py_SETREF(found, PyObject_CallOneArg(fold->read, *key));
    return found;
}

/* The function's answer for a value and the values of a row behind its key; NULL with an error set. */
static PyObject *added(const Fold *fold, PyObject *before, PyObject *row)
{
    Py_ssize_t count = PyTuple_GET_SIZE(row) - fold->width;
    PyObject *few[MOST_ON_STACK + 2], **given = few;
    if (count > MOST_ON_STACK && (given = PyMem_New(PyObject *, count + 2)) == NULL)
        return PyErr_NoMemory();
    given[0] = NULL; /* which the callee may use */
    given[1] = before;
    for (Py_ssize_t i = 0; i < count; i++)
        given[2 + i] = PyTuple_GET_ITEM(row, fold->width + i);
    size_t said = (size_t)(count + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET;
    PyObject *answer = PyObject_Vectorcall(fold->function, given + 1, said, NULL);
    if (given != few)
        PyMem_Free(given);
    return answer;
}

/* The next value of a key by an accumulator's function; NULL with an error set. */
static PyObject *aggregated(const Fold *fold, PyObject *before, PyObject *row)
{
    if (before != fold->nothing)
        return added(fold, before, row);
    PyObject *first = PyObject_CallNoArgs(fold->make), *answer = first == NULL ? NULL : added(fold, first, row);
    Py_XDECREF(first);
    return answer;
}

/* The next value of a key by a function of two values, or of two tuples of several; NULL with an error set. */
static PyObject *reduced(const Fold *fold, PyObject *before, PyObject *row)
{
    Py_ssize_t size = PyTuple_GET_SIZE(row);
    PyObject *value = size == fold->width + 1 ? Py_NewRef(PyTuple_GET_ITEM(row, fold->width))
                                              : PyTuple_GetSlice(row, fold->width, size);
    if (value == NULL || before == fold->nothing)
        return value;
    PyObject *given[3] = {NULL, before, value};
    PyObject *answer = PyObject_Vectorcall(fold->function, given + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(value);
    return answer;
}

/* The results of a value, kept: one, or a tuple of several; NULL with an error set. */
static PyObject *results_of(Fold *fold, PyObject *value)
{
    PyObject *found = fold->result_of == Py_None ? Py_NewRef(value) : PyObject_CallOneArg(fold->result_of, value);
    if (found == NULL)
        return NULL;
    Py_SETREF(found, rows_kept_plain(found, &fold->plain));
    if (found == NULL || fold->results == 1 || (PyTuple_CheckExact(found) && PyTuple_GET_SIZE(found) == fold->results))
        return found;
    Py_SETREF(found, PyObject_CallOneArg(fold->spread, found));
    if (found != NULL && !(PyTuple_CheckExact(found) && PyTuple_GET_SIZE(found) == fold->results)) {
        PyErr_Format(PyExc_TypeError, "%R is no tuple of %zd results", found, fold->results);
        Py_CLEAR(found);
    }
    return found;
}

/* The row of a key's values and of results, whose reference is taken over; NULL with an error set. */
static PyObject *output_of(const Fold *fold, PyObject *row, PyObject *results)
{
    PyObject *made = results == NULL ? NULL : PyTuple_New(fold->width + fold->results);
    if (made != NULL) {
        for (Py_ssize_t i = 0; i < fold->width; i++)
            PyTuple_SET_ITEM(made, i, Py_NewRef(PyTuple_GET_ITEM(row, i)));
        for (Py_ssize_t i = 0; i < fold->results; i++) {
            PyObject *result = fold->results == 1 ? results : PyTuple_GET_ITEM(results, i);
            PyTuple_SET_ITEM(made, fold->width + i, Py_NewRef(result));
        }
    }
    Py_XDECREF(results);
    return made;
}

/* Has a key its value of before a row, which the function may have changed before something has failed. */
static void restore(const Fold *fold, PyObject *key, PyObject *before)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyDict_SetItem(fold->changed, key, before))
        PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

/* Gives a row to the value of its key, and appends what comes of it: 0, or -1 with an error set. */
static int fold_row(Fold *fold, PyObject *row, PyObject *made)
{
    if (!PyTuple_CheckExact(row) || PyTuple_GET_SIZE(row) < fold->width) {
        PyErr_Format(PyExc_TypeError, "%R is no tuple with a key of %zd values", row, fold->width);
        return -1;
    }
    PyObject *key = key_of_row(fold, row), *before = key == NULL ? NULL : value_before(fold, &key);
    PyObject *value = NULL, *output = NULL;
    if (before != NULL)
        value = fold->make == Py_None ? reduced(fold, before, row) : aggregated(fold, before, row);
    if (value != NULL)
        output = output_of(fold, row, results_of(fold, value));
    int failed = output == NULL || PyDict_SetItem(fold->changed, key, value) || PyList_Append(made, output);
    if (failed && before != NULL && before != fold->nothing)
        restore(fold, key, before);
    Py_XDECREF(key);
    Py_XDECREF(before);
    Py_XDECREF(value);
    Py_XDECREF(output);
    return failed ? -1 : 0;
}

PyObject *rows_fold(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows, *made;
    Fold fold;
    if (!PyArg_ParseTuple(args, "O!O!(OOOO)(O!O!OOO)nn", &PyList_Type, &rows, &PyList_Type, &made, &fold.function,
                          &fold.make, &fold.result_of, &fold.spread, &PyDict_Type, &fold.changed, &PyDict_Type,
                          &fold.kept, &fold.read, &fold.hashable, &fold.nothing, &fold.width, &fold.results))
        return NULL;
    if (fold.width < 1 || fold.results < 1) {
        PyErr_Format(PyExc_ValueError, "a key of %zd values, and %zd results: expected some", fold.width, fold.results);
        return NULL;
    }
    int failed = 0;
    fold.plain = 1;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(rows); i++) {
        PyObject *row = Py_NewRef(PyList_GET_ITEM(rows, i)); /* the function might take it out */
        failed = fold_row(&fold, row, made);
        Py_DECREF(row);
    }
    PyObject *raised = rows_caught();
    return raised == NULL ? NULL : Py_BuildValue("(NN)", raised, PyBool_FromLong(fold.plain));
}
