/* Time-to-live: a key is gone when it was not changed for so long, by the time of the tuple that asks for it.
 *
 * Whoever asks for a key that is gone finds none, so what is seen depends on the times of tuples alone. Its row goes
 * later: when the key is entered anew, or when rows that come look at two others each, whose turn it is.
 */
#include "state.h"

/* Takes out those of the next rows of a group that are gone; -1 with an error set. */
static int sweep(KeyedTable *table, uint64_t group)
{
    enum { AT_ONCE = 2 };
    for (int i = 0; i < AT_ONCE; i++) {
        vp_row *row = vp_keyed_next(table->writer, table->tables[group], &table->swept[group]);
        table->swept[group] = row == NULL ? 0 : table->swept[group] + 1;
        if (row != NULL && table_is_gone(table, row) && table_drop(table, group, row))
            return -1;
    }
    return 0;
}

static vp_row *enter(KeyedTable *table, uint64_t group, const Key *key)
{
    uint64_t moves = table->moves;
    if (table->is_watched && table_before_moving(table, group))
        return NULL;
    vp_row *row = rows_enter(table, table->tables[group], table->heaps[group], key);
    return row != NULL && table->moves != moves && table_have_moved(table, group) ? NULL : row;
}

vp_row *table_enter(KeyedTable *table, uint64_t group, const Key *key)
{
    vp_keyed *rows = table->tables[group];
    if (table->now == NULL)
        return enter(table, group, key);
    vp_row *before = vp_keyed_find(table->writer, rows, key->hash, key->bytes, key->length);
    if (before != NULL && !table_is_gone(table, before))
        return before;
    if ((before != NULL && table_drop(table, group, before)) || sweep(table, group))
        return NULL;
    vp_row *row = enter(table, group, key);
    return row == NULL || table_touch(table, group, row) ? NULL : row;
}

PyObject *table_expire(KeyedTable *self, PyObject *args)
{
    long long ttl;
    PyObject *now;
    if (!PyArg_ParseTuple(args, "LO", &ttl, &now))
        return NULL;
    if (!self->is_timed || ttl < 1 || !PyCallable_Check(now)) {
        PyErr_Format(PyExc_ValueError, "state %U: rows go by time if their codes begin with %c, after 1 microsecond or more",
                     self->name, TIMED);
        return NULL;
    }
    if (self->swept == NULL && (self->swept = PyMem_Calloc(self->groups, sizeof *self->swept)) == NULL)
        return PyErr_NoMemory();
    self->ttl = ttl;
    Py_XSETREF(self->now, Py_NewRef(now));
    self->is_watched = 1;
    self->moves++;
    Py_RETURN_NONE;
}
