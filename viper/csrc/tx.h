/* Transactions on shared tables as Python sees them: they are recorded here, and evaluated by vp_txgroup.
 *
 *   tx_key.c       keys of rows, and elements of sets, as bytes
 *   tx_rows.c      SharedRows: the rows of a table
 *   tx_values.c    numbers as words of columns, and back
 *   tx_names.c     which table and column the objects of a user's stand for
 *   tx_handle.c    Handle: a value that is not known yet, and what is computed of it
 *   tx_operand.c   numbers and handles as operands of instructions
 *   tx_access.c    what a transaction does to columns, numbers and sets
 *   tx_present.c   what it does to whole rows
 *   tx_transaction.c  Transaction: the block of a `with`, which collects instructions
 *   tx_log.c       transactions written into the log, or compared with those of a predecessor's
 *   tx_place.c     their positions, and telling them
 *   tx_back.c      results, called back in the order of inputs
 *   tx_alone.c     functions that run alone
 *   tx_result.c    Result: what came of one transaction
 *   tx_recorder.c  Recorder: all of it for one task
 *
 * Recording a transfer of four operations takes half a microsecond, and took four in Python. Everything but SharedRows is
 * used by the task's thread alone.
 */
#ifndef VIPER_TX_H
#define VIPER_TX_H

#include "inbox.h"

#include <string.h>

#include "key.h"
#include "viper/shared.h"
#include "viper/txlog.h"

/* What a column holds, and a value of a key. */
enum { TX_INT = 'q', TX_FLOAT = 'd', TX_SET = '*', TX_TEXT = 's' };
/* What a register holds that is neither: 0 or 1. */
enum { TX_BOOL = '?' };

enum { TX_KEY_PARTS = 16 };

/* -- tables */

typedef struct {
    PyObject_HEAD
    PyObject *owner; /* keeps the memory */
    vp_shared *rows;
    vp_shared *elements; /* of all its sets; NULL: it has none */
    unsigned long long most_rows, most_elements; /* what it was made for */
    PyObject *name;
    PyObject *names; /* tuple of its columns' */
    int columns;
    char kinds[VP_SHARED_COLUMNS];
    int is_single; /* whether keys are values and not tuples of them */
    int parts;
    char parts_kinds[TX_KEY_PARTS];
} SharedRows;

extern PyType_Spec tx_rows_spec;
int tx_is_rows(PyObject *candidate);

/* A key's bytes, which stay there until the next one is made with the same scratch. Zeroed, the scratch has none. */
typedef struct {
    const unsigned char *data;
    size_t length;
    uint64_t hash;
    uint64_t word; /* the bytes of a number */
    Key canonical;
    unsigned char *joined; /* of an element */
    size_t room;
} RowKey;

void tx_key_clear(RowKey *key);
/* Makes the bytes of a row's key; -1 with an error set. */
int tx_key_make(const SharedRows *table, PyObject *value, RowKey *key);
/* Likewise those of an element of the set in a column of a row. */
int tx_element_make(const SharedRows *table, int64_t row, int column, PyObject *value, RowKey *key);
PyObject *tx_key_value(const SharedRows *table, const unsigned char *data, size_t length);
/* (row, column, element) of an element's key. */
PyObject *tx_element_value(const unsigned char *data, size_t length, int64_t *row, int *column);

/* The number of the row of a key, entered if need be; -1 with an error set. `full`: the class of that error. */
int64_t tx_row(const SharedRows *table, PyObject *value, RowKey *scratch, PyObject *full);
int64_t tx_element(const SharedRows *table, int64_t row, int column, PyObject *value, RowKey *scratch, PyObject *full);

/* An int of any class that is one, as 64 bits; -1 with an error set, which tells `what` it was to be. */
int tx_int64(PyObject *value, int64_t *number);
/* The word of a column for a number; -1 with an error set. */
int tx_word(const SharedRows *table, int column, PyObject *value, int64_t *word);
/* The number in a word of some kind. */
PyObject *tx_number(char kind, int64_t word);
/* "accounts.balance", of a new reference. */
PyObject *tx_column_name(const SharedRows *table, int column);
PyObject *tx_kind_name(char kind);

static inline int64_t word_of_double(double number)
{
    int64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

static inline double double_of_word(int64_t word)
{
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

/* -- recording */

/* What an object of the user's stands for. */
typedef struct {
    PyObject *object; /* NULL: the place is empty */
    int table;
    int column; /* -1: the table itself */
} Binding;

typedef struct Recorder Recorder;

/* What a transaction's `with` block collects. It refers to nothing that could refer back to it, and so needs no collector: a
 * user may keep a handle, and with it this, for good. */
typedef struct {
    PyObject_HEAD
    Recorder *recorder; /* NULL: it is gone */
    PyTypeObject *handle_type;
    uint64_t serial; /* another one for each block */
    int state;
    uint32_t conditions;
    uint32_t count, room;
    vp_tx_instruction *program;
    uint32_t registers, kinds_room;
    char *kinds; /* of each register */
} Transaction;

enum { TX_IDLE, TX_BEGUN, TX_OPEN };

typedef struct {
    PyObject_HEAD
    Transaction *transaction;
    uint64_t serial;
    uint32_t number; /* of its register */
    char kind;
} Handle;

/* Why a condition of a transaction was asked for. */
typedef struct {
    uint64_t transaction; /* the how-manieth that was recorded */
    uint32_t condition;
    PyObject *text;
} Reason;

/* What is recorded goes back to here where an input, or a block, is dropped. */
typedef struct {
    uint64_t at, recorded;
    size_t waiting;
    Py_ssize_t reasons, functions;
} Mark;

struct Recorder {
    PyObject_HEAD
    Inbox *inbox;
    PyObject *owner; /* keeps the log's memory */
    PyObject *resolve;
    PyObject *tables; /* tuple of SharedRows, by their numbers in the group */
    PyTypeObject *result_type;
    PyObject *diverged, *log_full, *state_full, *lost; /* exception classes */
    PyObject *loads; /* makes a value of bytes */
    Transaction *transaction;
    Binding *bindings;
    uint32_t binding_count, binding_room; /* a power of two */
    RowKey scratch;
    vp_txlog *log;
    uint64_t capacity; /* bytes of its ring */

    int recording;
    uint64_t at;         /* up to here the log is recorded */
    uint64_t replay_end; /* up to here a predecessor has recorded it */
    uint64_t placed;     /* up to here transactions have positions */
    uint64_t told;       /* and up to here others know them */
    uint64_t called;     /* up to here results were taken */
    uint64_t recorded, taken; /* transactions, likewise */
    char *waiting;       /* transactions that the log has no room for yet */
    size_t waiting_first, waiting_placed, waiting_end, waiting_room;

    uint32_t base;    /* number of the first input since the last load */
    uint32_t oldest;  /* of the next input to be called back */
    uint32_t input;   /* of the one in process, if has_input */
    int has_input;
    uint32_t ordinal; /* of its next transaction */
    Mark input_mark, block_mark;

    Reason *reasons;
    Py_ssize_t reason_first, reason_count, reason_room; /* count: with those before the first */
    PyObject *functions;           /* list: those that have not run, then (whether it returned, value or reason) */
    Py_ssize_t next_function;      /* the first that has not run */
    Py_ssize_t first_function;     /* the first whose result was not taken */
    PyObject *divergence; /* what differs from a predecessor's; NULL: nothing yet */
};

extern PyType_Spec tx_recorder_spec;
extern PyType_Spec tx_transaction_spec;
extern PyType_Spec tx_handle_spec;
extern PyType_Spec tx_result_spec;

static inline SharedRows *tx_table(const Recorder *recorder, int number)
{
    return (SharedRows *)PyTuple_GET_ITEM(recorder->tables, number);
}

/* What an operation is on. */
typedef struct {
    SharedRows *table;
    int number; /* of the table */
    int column; /* -1: the table */
} Target;

/* The column that an object stands for, as a table with one only does too; -1 with an error set. method: for the error. */
int tx_column(Recorder *recorder, PyObject *object, const char *method, Target *target);
/* Likewise a table. */
int tx_whole(Recorder *recorder, PyObject *object, const char *method, Target *target);
void tx_names_clear(Recorder *recorder);
int tx_names_traverse(Recorder *recorder, visitproc visit, void *arg);

/* -- instructions */

/* An operand: an immediate word, or the number of a register. */
typedef struct {
    int64_t word;
    char kind;
    int is_register;
} Operand;

int tx_is_handle(PyObject *candidate);
/* The operand that a value is; -1 with an error set. what: names it in the error. */
int tx_operand(Transaction *self, PyObject *value, Operand *operand, const char *what);
/* Makes a double of it; -1 with an error set. */
int tx_to_float(Transaction *self, Operand *operand);
/* Makes it fit a column that is no set; -1 with an error set. */
int tx_fit(Transaction *self, const SharedRows *table, int column, Operand *operand);

/* Appends an instruction, and a register of a kind if that is not 0; -1 with an error set. */
int tx_append(Transaction *self, vp_tx_instruction instruction, char kind);
/* The handle of the latest register; NULL with an error set. */
PyObject *tx_handle_new(Transaction *self);
/* Arithmetic of operands, of which one is a register: a handle; NULL with an error set. */
PyObject *tx_compute(Transaction *self, int code, Operand left, Operand right, char kind, int is_float);
/* Keeps a transaction alive whose handle, or which itself, is used, and looks whether it is open; NULL with an error set. */
Recorder *tx_enter(Transaction *self);
static inline void tx_leave(Recorder *recorder)
{
    Py_DECREF(recorder);
}

PyObject *tx_least(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_greatest(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_float(Transaction *self, PyObject *value);

PyObject *tx_read(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *tx_set(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_add(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_subtract(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_min(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_max(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_insert(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_discard(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_has(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_put(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *tx_put_if_absent(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *tx_exists(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_delete(Transaction *self, PyObject *const *args, Py_ssize_t count);

Transaction *tx_transaction_new(PyTypeObject *type, PyTypeObject *handle_type, Recorder *recorder);

/* -- the log */

/* Looks whether a tuple is the one in process, and counts its transactions; -1 with an error set. */
int tx_log_begin(Recorder *self, PyObject *tup);
/* Records a transaction of the tuple in process; NULL with an error set. */
vp_tx *tx_log_add(Recorder *self, int kind, const vp_tx_instruction *program, uint32_t count, uint32_t registers);
void tx_log_back(Recorder *self, const Mark *mark);
void tx_log_mark(const Recorder *self, Mark *mark);
/* Forgets all, and begins at a byte counter of the log. */
void tx_log_reset(Recorder *self, uint64_t head);
int tx_diverged(Recorder *self, const vp_tx *found, const char *what);
int tx_reason_add(Recorder *self, uint32_t condition, PyObject *text);


PyObject *tx_start(Recorder *self, PyObject *ignored);
PyObject *tx_place(Recorder *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_publish(Recorder *self, PyObject *ignored);
PyObject *tx_collected(Recorder *self, PyObject *position);
PyObject *tx_has_room(Recorder *self, PyObject *ignored);
/* The oldest placed transaction that was not called back; NULL: there is none. */
const vp_tx *tx_oldest(const Recorder *self);

int64_t tx_evaluated_inputs(const Recorder *self);
PyObject *tx_take_results(Recorder *self, PyObject *ignored);
PyObject *tx_release(Recorder *self, PyObject *ignored);

/* Of functions that run alone; the words behind a header have room for a result as bytes. */
enum { TX_ALONE_WORDS = 64 };
PyObject *tx_alone(Recorder *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_next_alone(Recorder *self, PyObject *ignored);
PyObject *tx_note_alone(Recorder *self, PyObject *args);
/* What came of the next one; NULL with an error set. */
PyObject *tx_alone_result(Recorder *self, const vp_tx *tx);

/* -- results */

/* The result of a transaction of a program, aborted for a reason or not (NULL; else taken over). */
PyObject *tx_result_new(PyTypeObject *type, const vp_tx *tx, PyObject *reason);
/* Of a function that has returned a value, or was aborted; both are taken over, one is NULL. */
PyObject *tx_result_alone(PyTypeObject *type, PyObject *value, PyObject *reason);

static inline int64_t *tx_words(const vp_tx *tx)
{
    return (int64_t *)(tx + 1);
}

static inline vp_tx_instruction *tx_program(const vp_tx *tx)
{
    return (vp_tx_instruction *)(tx_words(tx) + ((tx->registers + 1u) & ~1u));
}

#endif
