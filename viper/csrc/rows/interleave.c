/* Rows and tags of several lists in one order: what rows_partition divides, put together. */
#include "rows.h"

/* Where a list has got to. */
typedef struct {
    PyObject *rows;
    Py_ssize_t next;
} cursor;

/* One for each list, from the index that `firsts` gives; NULL with an error set. */
static cursor *cursors_of(PyObject *lists, PyObject *firsts)
{
    Py_ssize_t count = PyList_GET_SIZE(lists);
    cursor *cursors = PyMem_New(cursor, count + 1);
    if (cursors == NULL)
        return (cursor *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        cursors[i].rows = PyList_GET_ITEM(lists, i);
        cursors[i].next = PyLong_AsSsize_t(PyList_GET_ITEM(firsts, i));
        if (!PyErr_Occurred() && (!PyList_Check(cursors[i].rows) || cursors[i].next < 0))
            PyErr_Format(PyExc_TypeError, "list %zd: expected a list of rows and an index from 0", i);
    }
    if (!PyErr_Occurred())
        return cursors;
    PyMem_Free(cursors);
    return NULL;
}

/* The rows in the order chosen; NULL with an error set. */
static PyObject *gather(cursor *cursors, Py_ssize_t list_count, const uint16_t *chosen, Py_ssize_t count)
{
    PyObject *rows = PyList_New(count);
    for (Py_ssize_t i = 0; rows != NULL && i < count; i++) {
        cursor *from = chosen[i] < list_count ? &cursors[chosen[i]] : NULL;
        if (from == NULL || from->next >= PyList_GET_SIZE(from->rows)) {
            PyErr_Format(PyExc_IndexError, "row %zd is chosen from list %u, which has no more", i, (unsigned)chosen[i]);
            Py_CLEAR(rows);
        } else {
            PyList_SET_ITEM(rows, i, Py_NewRef(PyList_GET_ITEM(from->rows, from->next++)));
        }
    }
    return rows;
}

PyObject *rows_interleave(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *lists, *firsts, *rows = NULL;
    Py_buffer chosen;
    if (!PyArg_ParseTuple(args, "O!O!y*", &PyList_Type, &lists, &PyList_Type, &firsts, &chosen))
        return NULL;
    if (PyList_GET_SIZE(lists) != PyList_GET_SIZE(firsts)) {
        PyErr_SetString(PyExc_ValueError, "expected one first index for each list");
    } else {
        cursor *cursors = cursors_of(lists, firsts);
        if (cursors != NULL)
            rows = gather(cursors, PyList_GET_SIZE(lists), chosen.buf, chosen.len / (Py_ssize_t)sizeof(uint16_t));
        PyMem_Free(cursors);
    }
    PyBuffer_Release(&chosen);
    return rows;
}

/* The tags of one list, from an index on; those of a list without tags are all `base`. */
typedef struct {
    const uint16_t *next, *end; /* NULL: it has none */
    Py_ssize_t base;
    Py_buffer view;
} tag_cursor;

/* 0, or -1 with an error set, and nothing held. */
static int open_tags(tag_cursor *at, PyObject *tags, PyObject *first, PyObject *base)
{
    Py_ssize_t index = PyLong_AsSsize_t(first);
    if (index == -1 && PyErr_Occurred())
        return -1;
    at->base = PyLong_AsSsize_t(base);
    if (at->base < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a base is an index from 0");
        return -1;
    }
    at->next = at->end = NULL;
    at->view.obj = NULL; /* releasing it then does nothing */
    if (tags == Py_None)
        return 0;
    if (PyObject_GetBuffer(tags, &at->view, PyBUF_SIMPLE))
        return -1;
    Py_ssize_t count = at->view.len / (Py_ssize_t)sizeof(uint16_t);
    at->end = (const uint16_t *)at->view.buf + count;
    at->next = (const uint16_t *)at->view.buf + (index >= 0 && index < count ? index : count);
    return 0;
}

/* Fills in the tags in the order chosen; -1 with an error set. */
static int choose_tags(tag_cursor *cursors, Py_ssize_t list_count, const uint16_t *chosen, Py_ssize_t count, uint16_t *into)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        tag_cursor *from = chosen[i] < list_count ? &cursors[chosen[i]] : NULL;
        if (from == NULL || (from->end != NULL && from->next == from->end)) {
            PyErr_Format(PyExc_IndexError, "tag %zd is chosen from list %u, which has no more", i, (unsigned)chosen[i]);
            return -1;
        }
        into[i] = (uint16_t)(from->base + (from->end != NULL ? *from->next++ : 0));
    }
    return 0;
}

/* The tags in the order chosen; NULL with an error set. */
static PyObject *gather_tags(tag_cursor *cursors, PyObject *lists, PyObject *firsts, PyObject *bases, Py_buffer *chosen)
{
    Py_ssize_t opened = 0, list_count = PyList_GET_SIZE(lists);
    PyObject *tags = NULL;
    while (opened < list_count && !open_tags(&cursors[opened], PyList_GET_ITEM(lists, opened),
                                             PyList_GET_ITEM(firsts, opened), PyList_GET_ITEM(bases, opened)))
        opened++;
    if (opened == list_count)
        tags = PyBytes_FromStringAndSize(NULL, chosen->len);
    if (tags != NULL && choose_tags(cursors, list_count, chosen->buf, chosen->len / (Py_ssize_t)sizeof(uint16_t),
                                    (uint16_t *)PyBytes_AS_STRING(tags)))
        Py_CLEAR(tags);
    while (opened > 0)
        PyBuffer_Release(&cursors[--opened].view);
    return tags;
}

PyObject *rows_interleave_tags(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *lists, *firsts, *bases, *tags = NULL;
    Py_buffer chosen;
    if (!PyArg_ParseTuple(args, "O!O!O!y*", &PyList_Type, &lists, &PyList_Type, &firsts, &PyList_Type, &bases, &chosen))
        return NULL;
    if (PyList_GET_SIZE(lists) != PyList_GET_SIZE(firsts) || PyList_GET_SIZE(lists) != PyList_GET_SIZE(bases)) {
        PyErr_SetString(PyExc_ValueError, "expected one first index and one base for each list");
    } else {
        tag_cursor *cursors = PyMem_New(tag_cursor, PyList_GET_SIZE(lists) + 1);
        tags = cursors == NULL ? PyErr_NoMemory() : gather_tags(cursors, lists, firsts, bases, &chosen);
        PyMem_Free(cursors);
    }
    PyBuffer_Release(&chosen);
    return tags;
}
