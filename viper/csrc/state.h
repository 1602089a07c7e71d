/* Keyed state as Python sees it.
 *
 *   key.c          keys as canonical bytes
 *   scope.c        the tuple in process, and with it the key that states are of now
 *   state_value.c  values in the words of a row
 *   state_table.c  KeyedTable: the rows of one state in all key groups of a task
 *   state_cell.c   StateCell: the value that a state has for the scope's key
 *   state_count.c  the rows of a batch counted by their keys
 *
 * All of it is used by the task's thread alone.
 */
#ifndef VIPER_STATE_H
#define VIPER_STATE_H

#include "rows.h"

#include "key.h"
#include "keyed.h"

typedef struct {
    PyObject_HEAD
    PyObject *owner; /* keeps the writer open */
    vp_writer *writer;
    Rare rare;
    PyObject *row, *indexes; /* of the tuple in process; NULL: none */
    Key key;
    uint64_t number; /* goes up with each tuple, and with each time that one goes back */
    uint64_t known;  /* the number at which the key was made */
    vp_savepoint begun; /* where the slice was before the tuple */
} Scope;

extern PyType_Spec rows_scope_spec;

/* Whether an object is a Scope. */
int is_scope(PyObject *candidate);

/* Goes on to a tuple, whose references are taken over; for NULL to none. */
void scope_enter(Scope *scope, PyObject *row, PyObject *indexes);

/* The key of the tuple in process; NULL with an error set if there is none. */
const Key *scope_key(Scope *scope);

/* What a column of a state holds. */
enum { INTEGER = 'q', REAL = 'd', TRUTH = '?', STRING = 's', BINARY = 'y' };

/* The rows of one state. */
typedef struct {
    PyObject_HEAD
    PyObject *owner; /* keeps the writer open */
    vp_writer *writer;
    PyObject *name;  /* for messages */
    PyObject *codes; /* bytes: what each column holds */
    PyObject *full;  /* an exception class, for a pool without room */
    PyObject *dump, *load; /* make bytes of keys that canonical bytes do not tell whole, and back */
    Rare rare;
    uint64_t groups;  /* a power of two */
    vp_keyed **tables; /* by group; NULL: another task's */
    vp_heap **heaps;
    uint64_t moves; /* how often rows have moved */
    Key key;        /* the one asked for last */
} KeyedTable;

extern PyType_Spec rows_table_spec;
extern PyType_Spec rows_cell_spec;

int is_keyed_table(PyObject *candidate);

/* The words before a row's columns: the bytes by which a key is shown that its canonical bytes do not tell whole. */
enum { SHOWN_WORDS = 2 };

/* How many words a column has; 0 where the code is none. */
int words_of_code(char code);

/* The value at words of a row; NULL with an error set. */
PyObject *state_value(const KeyedTable *table, char code, const uint64_t *words);

/* Writes a value: -1 with an error set. */
int state_set_value(KeyedTable *table, vp_heap *heap, char code, uint64_t *words, PyObject *value);

/* The group of a key; -1 with an error set if it is another task's. */
int64_t table_group(KeyedTable *table, const Key *key);

/* The row of a key in its group, which is entered if there is none; NULL with an error set. */
vp_row *table_enter(KeyedTable *table, uint64_t group, const Key *key);

/* KeyedTable.count_up, as Python calls it. */
PyObject *table_count_up(KeyedTable *self, PyObject *args);

/* Says that there is no room. */
void table_is_full(const KeyedTable *table);

#endif
