/* Which task a row goes to by its key: the stable hash of values and of columns, and rows divided by it.
 *
 *   hash_values.c    one Python value
 *   hash_rows.c      the keys of rows, as tuples of Python values
 *   hash_columns.c   the keys of rows, as Arrow columns
 *   column.c         the values of one Arrow column, by their type
 *   lanes.c          many rows side by side
 *   split.c          rows in the order of their parts
 */
#ifndef VIPER_HASHING_H
#define VIPER_HASHING_H

#include "rows/rows.h"

#define NAN_IS_NO_KEY "nan is no key: it does not equal itself"

/* A function that is kept out of the loop over rows, which then has registers enough: 154 instructions for a key that
 * is an int instead of 167. */
#define RARELY __attribute__((noinline))

/* The hash of a value; -1 with an error set. `rare` is called for what is no plain value, and returns its hash. */
int hash_value(PyObject *value, PyObject *rare, uint64_t *hash);

/* The tasks that share the key groups. A key's group is in the lowest bits of its hash, and each task has as many groups in
 * a row as any other, or one more. */
typedef struct {
    uint64_t tasks, mask; /* mask: the number of groups less 1; `tasks` is 0 where hashes are asked for */
    int shift;            /* the groups are 1 << shift */
} Division;

/* The most parts, tasks and groups: as many as a native uint16 tells apart. */
enum { MOST_PARTS = 1 << 16 };

/* Whether there may be so many parts; -1 with an error set. */
int check_parts(Py_ssize_t parts);

/* A division among so many tasks; -1 with an error set. */
int division_open(Division *division, Py_ssize_t tasks, Py_ssize_t groups);

/* Where the results for rows go: hashes, or the tasks of a division. */
typedef struct {
    PyObject *bytes;
    uint64_t *hashes;
    uint16_t *targets;
    Division division;
} Results;

/* Room for so many. -1 with an error set. */
int results_open(Results *results, Py_ssize_t count, Division division);

static inline void results_put(const Results *results, Py_ssize_t at, uint64_t hash)
{
    if (results->hashes != NULL)
        results->hashes[at] = hash;
    else
        results->targets[at] = (uint16_t)((hash & results->division.mask) * results->division.tasks >> results->division.shift);
}

/* The functions of the module. */
PyObject *hashing_hash_of(PyObject *module, PyObject *args);
PyObject *hashing_siphash(PyObject *module, PyObject *args);
PyObject *hashing_hashes_of_rows(PyObject *module, PyObject *args);
PyObject *hashing_targets_of_rows(PyObject *module, PyObject *args);
PyObject *hashing_hashes_of_columns(PyObject *module, PyObject *columns);
PyObject *hashing_targets_of_columns(PyObject *module, PyObject *args);
PyObject *hashing_split(PyObject *module, PyObject *args);

#endif
