/* Keyed state as Python sees it.
 *
 *   keys/key.c        keys as canonical bytes
 *   scope.c           the tuple in process, and with it the key that states are of now
 *   core.c            tables, rows and buffers, as far as all others need them
 *   value.c           values in the words of a row
 *   rows.c            rows: columns, lists and maps
 *   table.c           KeyedTable: the rows of one state in all key groups of a task
 *   groups.c          the key groups that it has
 *   ttl.c             rows that go by time
 *   changes.c         rows that change: their times, their marks, their images for a snapshot
 *   count.c           the rows of a batch counted by their keys
 *   export.c, load.c  rows as bytes
 *   snapshot.c        the rows of all key groups as bytes, in pieces, as they were at one moment
 *   bulk.c            the values of many keys in one call
 *   cell.c            what a state has for the scope's key
 *   one.c             StateCell: a value
 *   columns.c         TableCell: the columns of a row
 *   list.c            ListCell: a list
 *   map.c             MapCell: a map
 *
 * All of it is used by the task's thread alone.
 */
#ifndef VIPER_STATE_H
#define VIPER_STATE_H

#include "rows/rows.h"

#include "keys/key.h"
#include "keyed.h"
#include "snapshot.h"

typedef struct {
    PyObject_HEAD
    PyObject *owner; /* keeps the writer open */
    vp_writer *writer;
    Rare rare;
    PyObject *row, *indexes; /* of the tuple in process; NULL: none */
    Py_ssize_t field; /* the only index, which one tuple after the other has; -1: there are several, or it is none */
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

/* What a column of a state holds, and an element of a list or of a map. */
enum { INTEGER = 'q', REAL = 'd', TRUTH = '?', STRING = 's', BINARY = 'y' };

/* Before the codes of a table whose rows go by time. */
enum { TIMED = '@' };

/* What a row of a state holds; of a list or a map the code of its elements stands behind this one. */
enum { COLUMNS = 0, LIST = '[', MAP = '{' };

/* Bytes that grow; zeroed, there are none. `data` is to be freed with PyMem_Free. */
typedef struct {
    char *data;
    size_t length, room;
} Buffer;

/* What is written of a key group for a checkpoint, and is not yet. */
typedef struct {
    vp_snapshot rows;
    Buffer images; /* rows as they were before they changed */
    int is_whole;  /* whether all its rows are written */
    int is_told;   /* whether that is to be told even if there are none */
} Pending;

/* The rows of one state. */
typedef struct {
    PyObject_HEAD
    PyObject *owner; /* keeps the writer open */
    vp_writer *writer;
    PyObject *name;  /* for messages */
    char kind;       /* COLUMNS, LIST or MAP */
    PyObject *codes; /* bytes: what each column holds, or the elements */
    int words;       /* of what a row holds */
    int is_timed;    /* whether a row has the time of its last change behind them */
    int64_t ttl;     /* rows that were not changed for so long are gone */
    PyObject *now;   /* tells the time; NULL: none goes */
    int64_t time;    /* of the key that was asked for last */
    uint64_t *swept; /* by group, the row that is looked at next by who looks for rows that are gone; NULL: nobody does */
    PyObject *full;  /* an exception class, for a pool without room */
    PyObject *dump, *load; /* make bytes of keys that canonical bytes do not tell whole, and back */
    Rare rare;
    uint64_t groups;  /* a power of two */
    vp_keyed **tables; /* by group; NULL: another task's */
    vp_heap **heaps;
    vp_changes **changes; /* likewise; NULL: nobody asks what has changed */
    Pending *pending;     /* by group; NULL: no snapshot is being written */
    uint64_t written;     /* key groups of it that are written */
    int is_watched; /* whether more is to be done for a row that changes than to write it */
    uint64_t moves; /* how often rows have moved */
    Key key;        /* the one asked for last */
} KeyedTable;

extern PyType_Spec rows_table_spec;
extern PyType_Spec rows_cell_spec;
extern PyType_Spec rows_columns_spec;
extern PyType_Spec rows_list_spec;
extern PyType_Spec rows_map_spec;

int is_keyed_table(PyObject *candidate);

/* The words before a row's columns: the bytes by which a key is shown that its canonical bytes do not tell whole. */
enum { SHOWN_WORDS = 2 };

/* How many words a column has; 0 where the code is none. */
int words_of_code(char code);

/* The value at words of a row; NULL with an error set. */
PyObject *state_value(const KeyedTable *table, char code, const uint64_t *words);

/* The str or the bytes that bytes tell; NULL with an error set. */
PyObject *state_of_bytes(char code, const char *bytes, Py_ssize_t length);

/* Writes a value: -1 with an error set. */
int state_set_value(KeyedTable *table, vp_heap *heap, char code, uint64_t *words, PyObject *value);

/* The word of a number; -1 with an error set where it does not fit without loss. */
int state_word(const KeyedTable *table, char code, PyObject *value, uint64_t *word);

/* Whether a column holds numbers, which can be summed up: 0, or -1 with an error set. */
int state_check_sums(const KeyedTable *table, char code);

/* The sum of two numbers in their words; -1 with an error set. */
int state_sum(const KeyedTable *table, char code, uint64_t word, uint64_t amount, uint64_t *made);

/* Whether a map's key is of a type, 0: of any; -1 with an error set if it is not. */
int state_check_key(const KeyedTable *table, char code, PyObject *key);

/* What the bytes of a str or of bytes lie in, a new reference; NULL with an error set where the value is of another type. */
PyObject *state_bytes(const KeyedTable *table, char code, PyObject *value, const char **data, Py_ssize_t *size);

/* -- rows */

/* The words of a row behind those by which its key is shown. */
static inline uint64_t *row_words(vp_row *row)
{
    return vp_row_values(row) + SHOWN_WORDS;
}

/* How many words the columns have, or an element. */
int columns_words(const KeyedTable *table);

/* Enters a key into rows, of a table or within it; NULL with an error set. */
vp_row *rows_enter(KeyedTable *table, vp_keyed *rows, vp_heap *heap, const Key *key);

/* Takes a row of columns out; -1 with an error set. */
int rows_drop(KeyedTable *table, vp_keyed *rows, vp_heap *heap, vp_row *row);

/* The key that a row is shown with; NULL with an error set. */
PyObject *row_key(const KeyedTable *table, vp_row *row);

/* A tuple of what a row holds; NULL with an error set. */
PyObject *row_values(const KeyedTable *table, vp_row *row);

/* Writes a tuple of as many values as there are columns; -1 with an error set. */
int row_set_columns(KeyedTable *table, vp_heap *heap, vp_row *row, PyObject *values);

/* A list of the elements of a row; NULL with an error set. */
PyObject *list_values(const KeyedTable *table, vp_row *row);

/* How many they are. */
static inline uint64_t *list_count(vp_row *row)
{
    return row_words(row) + 2;
}

/* Whether bytes are so many elements; -1 with an error set if they are not. */
int list_fits(const KeyedTable *table, const uint8_t *bytes, uint64_t length, uint64_t count);

/* The rows of a map; NULL where it has none. */
vp_keyed *map_rows(const KeyedTable *table, const vp_row *row);

/* Makes the rows of a map that has none; NULL with an error set. */
vp_keyed *map_make(KeyedTable *table, vp_heap *heap, vp_row *row);

/* A list of what is made of each entry of a map; NULL with an error set. */
PyObject *map_entries(const KeyedTable *table, const vp_row *row, PyObject *(*make)(const KeyedTable *, vp_row *));

/* What may be made of it: its value, or a pair of key and value. The key is `row_key`. */
PyObject *entry_value(const KeyedTable *table, vp_row *row);
PyObject *entry_item(const KeyedTable *table, vp_row *row);

/* -- tables */

/* Finds the key groups of a table by the offsets of their tables and heaps, 0 for another task's, and of where it is noted
 * what changes (None: it is not); -1 with an error set. */
int table_find_groups(KeyedTable *table, PyObject *tables, PyObject *heaps, PyObject *changes);

/* What methods of KeyedTable are. */
PyObject *table_own(KeyedTable *table, PyObject *args);
PyObject *table_note(KeyedTable *table, PyObject *args);
PyObject *table_noted(KeyedTable *table, PyObject *group);

/* The group of a key that is asked for now, which is counted; -1 with an error set if it is another task's. */
int64_t table_group(KeyedTable *table, const Key *key);

/* Whether the task owns a group: 0, or -1 with an error set. */
int table_owns(const KeyedTable *table, uint64_t group);

/* The row of a key in its group; NULL if there is none. */
vp_row *table_find(const KeyedTable *table, uint64_t group, const Key *key);

/* Likewise, but it is entered if there is none; NULL with an error set. */
vp_row *table_enter(KeyedTable *table, uint64_t group, const Key *key);

/* What has changed in a group; NULL where nobody asks. */
static inline vp_changes *table_changes(const KeyedTable *table, uint64_t group)
{
    return table->changes == NULL ? NULL : table->changes[group];
}

/* The word of a timed row with the time of its last change. */
static inline uint64_t *row_time(const KeyedTable *table, vp_row *row)
{
    return row_words(row) + table->words;
}

/* Whether a row has been gone since its time to live was over. */
static inline int table_is_gone(const KeyedTable *table, vp_row *row)
{
    return table->now != NULL && table->time - (int64_t)*row_time(table, row) >= table->ttl;
}

/* Asks for the time if rows go by it; -1 with an error set. */
int table_ask_time(KeyedTable *table);

static inline int table_tell_time(KeyedTable *table)
{
    return table->now == NULL ? 0 : table_ask_time(table);
}

/* Notes that a row changes by the time of the tuple in process; -1 with an error set. */
int table_note_time(KeyedTable *table, vp_row *row);

/* To be called before a row of a table changes, however little of it: saves its image where that is pending for a
 * snapshot, and notes that it changes; -1 with an error set. Rows within the row of a map are no rows of the table. */
int table_note_change(KeyedTable *table, uint64_t group, vp_row *row);

static inline int table_touch(KeyedTable *table, uint64_t group, vp_row *row)
{
    return table->is_watched ? table_note_change(table, group, row) : 0;
}

/* Likewise before the rows of a group may get other numbers, and behind that, where they have got them. */
int table_before_moving(KeyedTable *table, uint64_t group);
int table_have_moved(KeyedTable *table, uint64_t group);

/* Has rows go by time from now on: (microseconds, a function that tells the time). */
PyObject *table_expire(KeyedTable *table, PyObject *args);

/* KeyedTable.count_rows, as Python calls it. */
PyObject *table_count_rows(KeyedTable *self, PyObject *args);

/* Takes a row out, with all that it holds; -1 with an error set, and not all of it is taken out. */
int table_drop(KeyedTable *table, uint64_t group, vp_row *row);

/* Takes back what has changed since a place in this slice. */
void table_back(KeyedTable *table, vp_savepoint place);

/* Says that there is no room. */
void table_is_full(const KeyedTable *table);

/* -- rows as bytes: see export.c */

/* Makes room for so many more bytes; -1 with an error set. */
int buffer_grow(Buffer *buffer, size_t size);

/* -1 with an error set. */
static inline int buffer_add(Buffer *buffer, const void *data, size_t size)
{
    if (buffer->length + size > buffer->room && buffer_grow(buffer, size))
        return -1;
    if (size)
        memcpy(buffer->data + buffer->length, data, size);
    buffer->length += size;
    return 0;
}

/* Whether the key of a row that is told as bytes is shown otherwise than its bytes tell; in the bits above its length. */
#define ROW_SHOWN (UINT32_C(1) << 31)

/* Appends a row, or that a row has left (NULL), behind its number; -1 with an error set. */
int row_export(Buffer *to, const KeyedTable *table, uint64_t group, vp_row *row, uint64_t number);

/* What methods of KeyedTable are. */
PyObject *table_load(KeyedTable *table, PyObject *args);
PyObject *table_cut(KeyedTable *table, PyObject *args);
PyObject *table_next_piece(KeyedTable *table, PyObject *limit);
PyObject *table_discard(KeyedTable *table, PyObject *nothing);

/* Ends the snapshot, if there is one. */
void table_end_snapshot(KeyedTable *table);

/* -- many keys in one call: see bulk.c. `initial` is what a key has that was given nothing. */

PyObject *bulk_add(KeyedTable *table, PyObject *initial, PyObject *args);
PyObject *bulk_get(KeyedTable *table, PyObject *initial, PyObject *keys);
PyObject *bulk_put(KeyedTable *table, PyObject *args);

/* -- cells: what a state has for the key of the scope
 *
 * A bolt looks at it several times for a tuple, `seen.value += 1` twice. So the row is looked for once, and found
 * again as long as the tuple is the same and no row of the table has moved or left. */

typedef struct {
    PyObject_HEAD
    Scope *scope;
    KeyedTable *table;
    char code;  /* of the column, or of the elements */
    vp_row *row; /* NULL: the key has none */
    uint64_t group;
    uint64_t number, moves; /* the scope's and the table's when the row was looked for */
} Cell;

/* A new cell of a type, for a table of a kind and with so many columns; NULL with an error set. */
Cell *cell_of(PyTypeObject *type, PyObject *scope, PyObject *table, char kind, Py_ssize_t columns);

/* Looks for the row of the scope's key; -1 with an error set. */
int cell_look_anew(Cell *cell);

static inline int cell_look(Cell *cell)
{
    return cell->number == cell->scope->number && cell->moves == cell->table->moves ? 0 : cell_look_anew(cell);
}

/* Likewise, but a row is entered if there is none. */
int cell_enter(Cell *cell);

/* Takes the row out if there is one; -1 with an error set. */
int cell_drop(Cell *cell);

/* Of a cell that was looked for. */
static inline vp_savepoint cell_savepoint(const Cell *cell)
{
    return vp_writer_savepoint(cell->table->writer);
}

static inline vp_heap *cell_heap(const Cell *cell)
{
    return cell->table->heaps[cell->group];
}

int cell_traverse(Cell *cell, visitproc visit, void *arg);
int cell_clear(Cell *cell);
void cell_dealloc(Cell *cell);

#endif
