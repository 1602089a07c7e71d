/* Which key groups a table has: those that its task owns, from the beginning or since a cut at which tasks have handed
 * some over. */
#include "state.h"

static void *place_at(char *arena, PyObject *offsets, uint64_t group)
{
    size_t offset = PyLong_AsSize_t(PyTuple_GET_ITEM(offsets, group));
    return offset == 0 || offset == (size_t)-1 ? NULL : arena + offset;
}

static int has_each(PyObject *offsets, Py_ssize_t groups)
{
    return PyTuple_Check(offsets) && PyTuple_GET_SIZE(offsets) == groups;
}

/* Makes room for the places of so many groups; -1 with an error set. */
static int make_places(KeyedTable *table, uint64_t groups, int is_tracked)
{
    table->groups = groups;
    table->tables = PyMem_New(vp_keyed *, groups);
    table->heaps = PyMem_New(vp_heap *, groups);
    table->changes = is_tracked ? PyMem_New(vp_changes *, groups) : NULL;
    table->is_watched = is_tracked;
    if (table->tables != NULL && table->heaps != NULL && (table->changes != NULL || !is_tracked))
        return 0;
    PyErr_NoMemory();
    return -1;
}

int table_find_groups(KeyedTable *table, PyObject *tables, PyObject *heaps, PyObject *changes)
{
    Py_ssize_t groups = PyTuple_GET_SIZE(tables);
    if (groups < 1 || groups & (groups - 1) || !has_each(heaps, groups)) {
        PyErr_SetString(PyExc_ValueError, "the key groups are a power of two, each with a table and a heap");
        return -1;
    }
    if (changes != Py_None && !has_each(changes, groups)) {
        PyErr_SetString(PyExc_ValueError, "changes are a tuple with an offset for each key group, or None");
        return -1;
    }
    if (table->tables == NULL && make_places(table, (uint64_t)groups, changes != Py_None))
        return -1;
    char *arena = table->writer->arena;
    for (uint64_t group = 0; group < table->groups; group++) {
        table->tables[group] = place_at(arena, tables, group);
        table->heaps[group] = place_at(arena, heaps, group);
        if (table->changes != NULL)
            table->changes[group] = place_at(arena, changes, group);
    }
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *table_own(KeyedTable *self, PyObject *args)
{
    PyObject *tables, *heaps, *changes;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyTuple_Type, &tables, &PyTuple_Type, &heaps, &changes))
        return NULL;
    if (!has_each(tables, (Py_ssize_t)self->groups) || (changes == Py_None) != (self->changes == NULL)) {
        PyErr_Format(PyExc_ValueError, "state %U has %llu key groups, and changes are%s noted: expected offsets for the same",
                     self->name, (unsigned long long)self->groups, self->changes == NULL ? " not" : "");
        return NULL;
    }
    if (vp_writer_written(self->writer)) {
        PyErr_Format(PyExc_RuntimeError, "state %U: key groups are handed over behind a commit, and something has changed since",
                     self->name);
        return NULL;
    }
    if (self->pending != NULL) {
        PyErr_Format(PyExc_RuntimeError, "state %U: key groups are handed over when no snapshot is being written", self->name);
        return NULL;
    }
    if (table_find_groups(self, tables, heaps, changes))
        return NULL;
    if (self->swept != NULL)
        memset(self->swept, 0, self->groups * sizeof *self->swept);
    self->moves++; /* cells look for their rows anew */
    Py_RETURN_NONE;
}

PyObject *table_note(KeyedTable *self, PyObject *args)
{
    unsigned long long group;
    long long first, second;
    if (!PyArg_ParseTuple(args, "KLL", &group, &first, &second) || table_owns(self, group))
        return NULL;
    uint64_t *notes = self->tables[group]->notes;
    notes[0] = (uint64_t)first;
    notes[1] = (uint64_t)second;
    Py_RETURN_NONE;
}

PyObject *table_noted(KeyedTable *self, PyObject *group)
{
    size_t number = PyLong_AsSize_t(group);
    if ((number == (size_t)-1 && PyErr_Occurred()) || table_owns(self, number))
        return NULL;
    const uint64_t *notes = self->tables[number]->notes;
    return Py_BuildValue("(LL)", (long long)notes[0], (long long)notes[1]);
}
