/* The keys of rows: fields of tuples, without a Python call for a row unless its key is of a rarer type. */
#include "rows/rows.h" /* first, as Python.h wants it */

#include "canonical.h"
#include "hashing.h"

int check_parts(Py_ssize_t parts)
{
    if (parts >= 1 && parts <= MOST_PARTS)
        return 0;
    PyErr_Format(PyExc_ValueError, "%zd parts: expected 1 to %d", parts, MOST_PARTS);
    return -1;
}

int division_open(Division *division, Py_ssize_t tasks, Py_ssize_t groups)
{
    int shift = 0;
    while ((Py_ssize_t)1 << shift < groups && shift < 16)
        shift++;
    if (groups != (Py_ssize_t)1 << shift) {
        PyErr_Format(PyExc_ValueError, "%zd key groups: expected a power of two from 1 to %d", groups, MOST_PARTS);
        return -1;
    }
    if (tasks < 1 || tasks > groups) {
        PyErr_Format(PyExc_ValueError, "%zd tasks: expected 1 to %zd, the number of key groups", tasks, groups);
        return -1;
    }
    *division = (Division){.tasks = (uint64_t)tasks, .mask = (uint64_t)groups - 1, .shift = shift};
    return 0;
}

int results_open(Results *results, Py_ssize_t count, Division division)
{
    Py_ssize_t size = division.tasks ? (Py_ssize_t)sizeof(uint16_t) : (Py_ssize_t)sizeof(uint64_t);
    results->bytes = PyBytes_FromStringAndSize(NULL, count * size);
    if (results->bytes == NULL)
        return -1;
    void *data = PyBytes_AS_STRING(results->bytes);
    results->hashes = division.tasks ? NULL : data;
    results->targets = division.tasks ? data : NULL;
    results->division = division;
    return 0;
}

typedef struct {
    Py_ssize_t *indexes, count, last; /* last: the highest index */
    PyObject *rare;
} Key;

static int key_open(Key *key, PyObject *indexes)
{
    key->count = PyTuple_GET_SIZE(indexes);
    key->last = -1;
    key->indexes = PyMem_New(Py_ssize_t, key->count);
    if (key->indexes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < key->count; i++) {
        Py_ssize_t index = PyLong_AsSsize_t(PyTuple_GET_ITEM(indexes, i));
        if (index < 0) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_IndexError, "no field %zd", index);
            PyMem_Free(key->indexes);
            return -1;
        }
        key->indexes[i] = index;
        key->last = index > key->last ? index : key->last;
    }
    return 0;
}

/* A key of several fields hashes as the tuple of their values. */
RARELY static int hash_fields(const Key *key, PyObject *row, uint64_t *hash)
{
    Sip state = hash_start();
    for (Py_ssize_t i = 0; i < key->count; i++) {
        uint64_t member;
        if (hash_value(PyTuple_GET_ITEM(row, key->indexes[i]), key->rare, &member))
            return -1;
        state = sip_word(state, member);
    }
    *hash = sip_end(state, last_word((uint64_t)key->count, KIND_SEQUENCE));
    return 0;
}

RARELY static int refuse_row(const Key *key, PyObject *row)
{
    PyErr_Format(PyExc_TypeError, "%R is no row with a field %zd", row, key->last);
    return -1;
}

static inline int hash_key(const Key *key, PyObject *row, uint64_t *hash)
{
    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) <= key->last)
        return refuse_row(key, row);
    if (key->count != 1)
        return hash_fields(key, row, hash);
    return hash_value(PyTuple_GET_ITEM(row, key->last), key->rare, hash);
}

static int hash_rows(const Key *key, PyObject *rows, const Results *results)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(rows);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i >= PySequence_Fast_GET_SIZE(rows)) { /* `rare` ran code */
            PyErr_SetString(PyExc_RuntimeError, "the rows changed while their keys were hashed");
            return -1;
        }
        uint64_t hash;
        PyObject *row = Py_NewRef(PySequence_Fast_GET_ITEM(rows, i));
        int failed = hash_key(key, row, &hash);
        Py_DECREF(row);
        if (failed)
            return -1;
        results_put(results, i, hash);
    }
    return 0;
}

/* For rows that are a list or a tuple. */
static PyObject *results_of_rows(PyObject *rows, PyObject *indexes, Division division, PyObject *rare)
{
    Key key = {.rare = rare};
    Results results;
    if (key_open(&key, indexes))
        return NULL;
    int failed = results_open(&results, PySequence_Fast_GET_SIZE(rows), division);
    if (!failed && hash_rows(&key, rows, &results)) {
        failed = -1;
        Py_DECREF(results.bytes);
    }
    PyMem_Free(key.indexes);
    return failed ? NULL : results.bytes;
}

static PyObject *results_of(PyObject *sequence, PyObject *indexes, Division division, PyObject *rare)
{
    PyObject *rows = PySequence_Fast(sequence, "the rows must be a sequence");
    PyObject *found = rows == NULL ? NULL : results_of_rows(rows, indexes, division, rare);
    Py_XDECREF(rows);
    return found;
}

PyObject *hashing_hashes_of_rows(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows, *indexes, *rare;
    if (!PyArg_ParseTuple(args, "OO!O", &rows, &PyTuple_Type, &indexes, &rare))
        return NULL;
    return results_of(rows, indexes, (Division){0}, rare);
}

PyObject *hashing_targets_of_rows(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows, *indexes, *rare;
    Py_ssize_t tasks, groups;
    Division division;
    if (!PyArg_ParseTuple(args, "OO!nnO", &rows, &PyTuple_Type, &indexes, &tasks, &groups, &rare) ||
        division_open(&division, tasks, groups))
        return NULL;
    return results_of(rows, indexes, division, rare);
}
