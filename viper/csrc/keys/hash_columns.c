/* The keys of rows that lie in Arrow columns: hashed column by column, a block of rows at a time, and put together
 * as the tuples of their values would be. */
#include "rows/rows.h" /* first, as Python.h wants it */

#include "column.h"
#include "rows/exporting.h"
#include "hashing.h"
#include "lanes.h"

typedef struct {
    Py_ssize_t count; /* of columns */
    int64_t length;   /* rows */
    Column *columns;
    PyObject *capsules; /* list: they own the arrays */
} Columns;

static void columns_close(Columns *self)
{
    PyMem_Free(self->columns);
    Py_CLEAR(self->capsules);
}

/* Opens one column; the result is that of column_open, BROKEN_COLUMN with an error set. */
static int open_one(Columns *self, Py_ssize_t index, PyObject *exporter)
{
    Exported exported;
    if (exported_open(&exported, exporter))
        return BROKEN_COLUMN;
    const struct ArrowSchema *schema = exported.schema;
    const struct ArrowArray *array = exported.array;
    int failed = PyList_Append(self->capsules, exported.capsules);
    exported_close(&exported);
    if (failed)
        return BROKEN_COLUMN;
    if (index == 0)
        self->length = array->length;
    if (array->length != self->length) {
        PyErr_Format(PyExc_ValueError, "column %zd of the key has %lld rows, column 0 has %lld", index,
                     (long long)array->length, (long long)self->length);
        return BROKEN_COLUMN;
    }
    int opened = column_open(&self->columns[index], schema, array);
    if (opened == BROKEN_COLUMN)
        PyErr_Format(PyExc_ValueError, "column %zd of the key has %lld buffers, which are not those of its type %s",
                     index, (long long)array->n_buffers, schema->format);
    return opened;
}

/* As open_one, for all columns of a tuple. To be closed whatever the result is. */
static int columns_open(Columns *self, PyObject *exporters)
{
    *self = (Columns){.count = PyTuple_GET_SIZE(exporters)};
    if (self->count == 0) {
        PyErr_SetString(PyExc_ValueError, "a key needs a column");
        return BROKEN_COLUMN;
    }
    self->columns = PyMem_New(Column, self->count);
    self->capsules = PyList_New(0);
    if (self->columns == NULL || self->capsules == NULL) {
        PyErr_NoMemory();
        return BROKEN_COLUMN;
    }
    int opened = KNOWN_COLUMN;
    for (Py_ssize_t i = 0; i < self->count && opened == KNOWN_COLUMN; i++)
        opened = open_one(self, i, PyTuple_GET_ITEM(exporters, i));
    return opened;
}

static int hash_column(const Columns *self, Py_ssize_t index, int64_t first, int count, uint64_t *hashes)
{
    int64_t refused = column_hash(&self->columns[index], first, count, hashes);
    if (refused < 0)
        return 0;
    if (self->count == 1)
        PyErr_Format(PyExc_TypeError, "row %lld: " NAN_IS_NO_KEY, (long long)refused);
    else
        PyErr_Format(PyExc_TypeError, "row %lld, column %zd of the key: " NAN_IS_NO_KEY, (long long)refused, index);
    return -1;
}

static int hash_block(const Columns *self, int64_t first, int count, uint64_t *hashes)
{
    if (self->count == 1)
        return hash_column(self, 0, first, count, hashes);
    Lanes lanes;
    lanes_start(&lanes);
    for (Py_ssize_t column = 0; column < self->count; column++) {
        if (hash_column(self, column, first, count, hashes))
            return -1;
        lanes_word(&lanes, hashes, count);
    }
    lanes_end(&lanes, last_word((uint64_t)self->count, KIND_SEQUENCE), hashes, count);
    return 0;
}

static int hash_columns(const Columns *self, const Results *results)
{
    uint64_t hashes[LANES];
    for (int64_t first = 0; first < self->length; first += LANES) {
        int count = self->length - first < LANES ? (int)(self->length - first) : LANES;
        if (hash_block(self, first, count, hashes))
            return -1;
        for (int i = 0; i < count; i++)
            results_put(results, (Py_ssize_t)(first + i), hashes[i]);
    }
    return 0;
}

static PyObject *results_of_columns(PyObject *exporters, Division division)
{
    Columns columns;
    Results results = {0};
    exporters = PySequence_Tuple(exporters);
    if (exporters == NULL)
        return NULL;
    int opened = columns_open(&columns, exporters);
    if (opened == KNOWN_COLUMN && !results_open(&results, (Py_ssize_t)columns.length, division) &&
        hash_columns(&columns, &results))
        Py_CLEAR(results.bytes);
    columns_close(&columns);
    Py_DECREF(exporters);
    if (opened == FOREIGN_COLUMN)
        Py_RETURN_NONE;
    return results.bytes;
}

PyObject *hashing_hashes_of_columns(PyObject *module, PyObject *columns)
{
    (void)module;
    return results_of_columns(columns, (Division){0});
}

PyObject *hashing_targets_of_columns(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *columns;
    Py_ssize_t tasks, groups;
    Division division;
    if (!PyArg_ParseTuple(args, "Onn", &columns, &tasks, &groups) || division_open(&division, tasks, groups))
        return NULL;
    return results_of_columns(columns, division);
}
