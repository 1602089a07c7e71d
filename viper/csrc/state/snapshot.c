/* A snapshot: the rows of all key groups as they were when it was begun.
 *
 * It has whole key groups, or what has changed in them since the snapshot before. Groups are written one after the
 * other: first the images of rows that have changed meanwhile, then what is still as it was.
 */
#include "state.h"

void table_end_snapshot(KeyedTable *table)
{
    for (uint64_t group = 0; table->pending != NULL && group < table->groups; group++) {
        vp_snapshot_end(&table->pending[group].rows);
        PyMem_Free(table->pending[group].images.data);
    }
    PyMem_Free(table->pending);
    table->pending = NULL;
    table->is_watched = table->changes != NULL || table->now != NULL;
}

/* How many rows of a group are written, at most. */
static uint64_t rows_to_write(const vp_keyed *rows, const vp_changes *changes, int is_whole)
{
    return is_whole || vp_changes_are_unknown(changes) ? vp_keyed_count(rows) : vp_changes_count(changes);
}

/* Whether all is written anew: where the checkpoint would consist of more than twice as many rows as there are. */
static int is_worth_all(const KeyedTable *table)
{
    enum { AT_ANY_RATE = 1000 };
    uint64_t live = 0, written = AT_ANY_RATE;
    for (uint64_t group = 0; group < table->groups; group++) {
        if (table->tables[group] == NULL)
            continue;
        const vp_changes *changes = table->changes[group];
        live += vp_keyed_count(table->tables[group]);
        written += vp_read(&changes->saved.rows) + rows_to_write(table->tables[group], changes, 0);
    }
    return written > 2 * live + 2 * AT_ANY_RATE;
}

static void cut_group(KeyedTable *table, uint64_t group, uint64_t attempt, int is_all)
{
    vp_keyed *rows = table->tables[group];
    vp_changes *changes = table_changes(table, group);
    int is_whole = is_all || changes == NULL || vp_changes_are_unknown(changes);
    if (changes != NULL)
        vp_changes_cut(changes, attempt, (is_all ? 0 : vp_read(&changes->saved.rows)) + rows_to_write(rows, changes, is_whole));
    vp_snapshot_begin(&table->pending[group].rows, rows, is_whole);
    table->pending[group].is_whole = is_whole;
    table->pending[group].is_told = is_whole && !is_all;
}

/* The key groups of the task: how many keys they have. */
static uint64_t count_keys(const KeyedTable *table)
{
    uint64_t count = 0;
    for (uint64_t group = 0; group < table->groups; group++)
        count += table->tables[group] == NULL ? 0 : vp_keyed_count(table->tables[group]);
    return count;
}

PyObject *table_cut(KeyedTable *self, PyObject *args)
{
    unsigned long long attempt, since;
    int is_all;
    if (!PyArg_ParseTuple(args, "KKp", &attempt, &since, &is_all))
        return NULL;
    table_end_snapshot(self);
    for (uint64_t group = 0; self->changes != NULL && group < self->groups; group++)
        if (self->tables[group] != NULL)
            vp_changes_settle(self->writer, self->changes[group], since);
    self->pending = PyMem_Calloc(self->groups, sizeof *self->pending);
    if (self->pending == NULL)
        return PyErr_NoMemory();
    is_all = is_all || since == 0 || self->changes == NULL || is_worth_all(self);
    for (uint64_t group = 0; group < self->groups; group++)
        if (self->tables[group] != NULL)
            cut_group(self, group, attempt, is_all);
    self->written = 0;
    self->is_watched = 1;
    return Py_BuildValue("(KO)", (unsigned long long)count_keys(self), is_all ? Py_True : Py_False);
}

/* -- pieces */

typedef struct {
    Buffer made;
    size_t limit;
    const KeyedTable *table;
    uint64_t group;
} Piece;

static int save_row(void *context, vp_row *row, uint64_t number)
{
    Piece *to = context;
    return row_export(&to->made, to->table, to->group, row, number) ? -1 : to->made.length >= to->limit;
}

/* The next bytes of a group: 1 if there are some, 0 if it is written, -1 with an error set. */
static int write_group(KeyedTable *table, Piece *to)
{
    Pending *pending = &table->pending[to->group];
    to->made = pending->images;
    pending->images = (Buffer){0};
    if (to->made.length < to->limit && vp_snapshot_is_pending(&pending->rows) &&
        vp_snapshot_walk(&pending->rows, table->writer, table->tables[to->group], table_changes(table, to->group), save_row, to))
        return -1;
    int is_told = pending->is_told;
    pending->is_told = 0;
    return to->made.length || is_told;
}

PyObject *table_next_piece(KeyedTable *self, PyObject *limit)
{
    size_t bytes = PyLong_AsSize_t(limit);
    if (bytes == (size_t)-1 && PyErr_Occurred())
        return NULL;
    for (; self->pending != NULL && self->written < self->groups; self->written++) {
        Piece to = {.limit = bytes, .table = self, .group = self->written};
        int is_whole = self->pending[to.group].is_whole, found = write_group(self, &to);
        PyObject *told = found <= 0 ? NULL
                                    : Py_BuildValue("(KOy#)", (unsigned long long)to.group, is_whole ? Py_True : Py_False,
                                                    to.made.data == NULL ? "" : to.made.data, (Py_ssize_t)to.made.length);
        PyMem_Free(to.made.data);
        if (found)
            return told;
    }
    table_end_snapshot(self);
    Py_RETURN_NONE;
}

PyObject *table_discard(KeyedTable *self, PyObject *nothing)
{
    (void)nothing;
    table_end_snapshot(self);
    Py_RETURN_NONE;
}
