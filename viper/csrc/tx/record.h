/* Transactions on shared tables as Python sees them: they are recorded here, and evaluated by vp_txgroup.
 *
 *   core.c         handles and instructions, as far as all others need them
 *   names.c        which table and column the objects of a user's stand for
 *   target.c       in which rows something is done
 *   operand.c      numbers and handles as operands of instructions
 *   handle.c       Handle: a value that is not known yet, and what is computed of it
 *   access.c       what a transaction does to columns, numbers and sets
 *   present.c      what it does to whole rows
 *   require.c      its conditions
 *   transaction.c  Transaction: the block of a `with`, which collects instructions
 *   log.c          transactions written into the log
 *   replay.c       transactions compared with those of a predecessor's
 *   place.c        their positions, and telling them
 *   back.c         results, called back in the order of inputs
 *   alone.c        functions that run alone
 *   result.c       Result: what came of one transaction
 *   block.c        blocks for all rows of a batch, said once
 *   array.c        what such a block is given for each row: numbers, elements
 *   batch.c        these blocks written out for each row
 *   row_results.c  RowResults: what came of the rows of a batch
 *   recorder.c     Recorder: all of it for one task
 *
 * Recording a transfer of four operations takes half a microsecond, and took four in Python. All of it is used by the task's
 * thread alone.
 */
#ifndef VIPER_TX_RECORD_H
#define VIPER_TX_RECORD_H

#include "tx.h"

#include "viper/txlog.h"

/* -- recording */

/* What an object of the user's stands for. */
typedef struct {
    PyObject *object; /* NULL: the place is empty */
    int table;
    int column; /* -1: the table itself */
} Binding;

typedef struct Recorder Recorder;

/* A row whose key, a number, was looked up before. Rows stay where they are. */
typedef struct {
    int64_t key;
    uint32_t row; /* and 1; 0: none is known */
} Known;

/* What a block has for each row: in the program, where and what. */
typedef struct {
    uint32_t at;     /* the instruction */
    int is_row;      /* whether it is the number of its row; else its operand */
    const void *values; /* uint32_t or int64_t, one for each row that the block is for */
} Patch;

/* Why a condition of a block was asked for. */
typedef struct {
    uint32_t condition;
    PyObject *text;
} BlockReason;

/* A block of a batch. */
typedef struct {
    uint64_t serial; /* as handles have it, and its index in its batch */
    uint32_t number;
    uint8_t *mask;   /* by row of the batch, whether it is for this; NULL: all are */
    uint32_t rows;   /* how many are */
    uint32_t next;   /* the index of the one that is written out, and then taken, next */
    uint32_t registers;
    char *kinds;  /* of these */
    char *entry;  /* a transaction, as the log has it */
    size_t size;
    Patch *patches;
    uint32_t patch_count, patch_room;
    void **arrays; /* memory of what patches and operands have for each row */
    uint32_t array_count, array_room;
    BlockReason *reasons;
    uint32_t reason_count, reason_room;
} Block;

/* The rows that a batch bolt processes at once. */
typedef struct {
    uint32_t first; /* number of its first row among all inputs */
    uint32_t rows, taken;
    Block **blocks;
    uint32_t block_count, block_room;
} Batch;

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
    Block *block; /* of a batch; NULL: of one tuple */
} Transaction;

enum { TX_IDLE, TX_BEGUN, TX_OPEN };        /* a block */
enum { TX_OFF, TX_TUPLES, TX_ROWS };        /* a recorder */

typedef struct {
    PyObject_HEAD
    Transaction *transaction;
    uint64_t serial;
    uint32_t number; /* of its register */
    uint32_t block;  /* the index of its block in a batch */
    char kind;
} Handle;

/* Why a condition of a transaction was asked for. */
typedef struct {
    uint64_t transaction; /* its index among those that were recorded */
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
    PyTypeObject *result_type, *row_results_type;
    PyObject *diverged, *log_full, *state_full, *lost; /* exception classes */
    PyObject *loads; /* makes a value of bytes */
    Transaction *transaction;
    Binding *bindings;
    uint32_t binding_count, binding_room; /* a power of two */
    RowKey scratch;
    Known **known;          /* by table; NULL: no rows are known yet */
    vp_txlog *log;
    uint64_t capacity; /* bytes of its ring */

    int recording;  /* tuples of the inbox, or rows of the last batch */
    Batch *batches; /* those not called back; `batch_first` of them are gone */
    uint32_t batch_first, batch_count, batch_room;
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
};

static inline SharedRows *tx_table(const Recorder *recorder, int number)
{
    return (SharedRows *)PyTuple_GET_ITEM(recorder->tables, number);
}

/* What an operation is on. */
typedef struct {
    SharedRows *table;
    int number; /* of the table */
    int column; /* -1: the table */
    int64_t row;
    const uint32_t *rows; /* of each row of a batch; NULL: it is `row` for all */
} Target;

/* The column that an object stands for, as a table with one only does too; -1 with an error set. method: for the error. */
int tx_column(Recorder *recorder, PyObject *object, const char *method, Target *target);
/* Likewise a table. */
int tx_whole(Recorder *recorder, PyObject *object, const char *method, Target *target);
/* Names the row of a key, or those of keys; -1 with an error set. */
int tx_name_row(Transaction *self, Recorder *recorder, PyObject *key, Target *target);
void tx_known_clear(Recorder *recorder);
void tx_names_clear(Recorder *recorder);
int tx_names_traverse(Recorder *recorder, visitproc visit, void *arg);

/* -- instructions */

/* An operand: an immediate word, or the number of a register. */
typedef struct {
    int64_t word;
    char kind;
    int is_register;
    int64_t *values; /* of each row of a batch; NULL: it is `word` for all */
} Operand;

/* The operand that a value is; -1 with an error set. what: names it in the error. */
int tx_operand(Transaction *self, PyObject *value, Operand *operand, const char *what);
int tx_refuse_operand(PyObject *value, const char *what);
/* A register of 0: its own is not unequal to itself. -1 with an error set. */
int tx_append_zero(Transaction *self);
/* Has rows abort whose `fits` is 0, of an operand with values; for others it is 1. */
int tx_append_fitting(Transaction *self, Operand *operand, const int64_t *fits);
/* Makes a double of it; -1 with an error set. */
int tx_to_float(Transaction *self, Operand *operand);
/* Makes it fit a column that is no set; -1 with an error set. */
int tx_fit(Transaction *self, const SharedRows *table, int column, Operand *operand);

/* Appends an instruction, and a register of a kind if that is not 0; -1 with an error set. */
int tx_append(Transaction *self, vp_tx_instruction instruction, char kind);
/* Likewise one on a target, with an operand, or NULL. */
int tx_append_on(Transaction *self, int code, const Target *target, const Operand *operand, int flags, char kind);
/* Has the latest instruction take its row, or its operand, from values; NULL: it stays as it is. */
int tx_patch(Transaction *self, int is_row, const void *values);
/* The handle of the latest register; NULL with an error set. */
PyObject *tx_handle_new(Transaction *self);
void tx_handle_dealloc(Handle *self);
/* Arithmetic of operands, of which one is a register: a handle; NULL with an error set. */
PyObject *tx_compute(Transaction *self, int code, Operand left, Operand right, char kind, int is_float);
/* Keeps a transaction alive whose handle, or which itself, is used, and looks whether it is open; NULL with an error set. */
Recorder *tx_enter(Transaction *self);
static inline void tx_leave(Recorder *recorder)
{
    Py_DECREF(recorder);
}

/* Whether a value is one for each row of a batch. */
int tx_is_wide(const Transaction *self, PyObject *value);
/* 0 if there are as many as the block has rows; -1 with an error set. */
int tx_check_length(Py_ssize_t found, uint32_t expected, const char *what);
/* Memory that lasts as long as the block is needed; NULL with an error set. */
void *tx_array_new(Transaction *self, size_t bytes);
/* The numbers of each row and their kind; 0 with an error set. fits: NULL, or 0 for the rows whose number does not fit into 64 bits,
 * and 1 for all others. */
char tx_wide_numbers(Transaction *self, PyObject *values, int64_t *into, int64_t **fits, const char *what);
/* Likewise as an operand; -1 with an error set. */
int tx_wide_operand(Transaction *self, PyObject *values, Operand *operand, const char *what);
/* The elements of the sets in a column, where rows or elements are one for each row. */
int tx_wide_elements(Transaction *self, Recorder *recorder, PyObject *elements, const Target *target, Operand *operand);

PyObject *tx_require(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_least(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_greatest(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_float(Transaction *self, PyObject *value);

PyObject *tx_read(Transaction *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *tx_read_each(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_set_each(Transaction *self, PyObject *const *args, Py_ssize_t count);
PyObject *tx_add_each(Transaction *self, PyObject *const *args, Py_ssize_t count);
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
/* Compares what waits with what a predecessor has published, of inputs up to a position; -1 with an error set. */
int tx_replay(Recorder *self, vp_position last);
/* Looks whether a predecessor has published anything below a position that was not said again; -1 with an error set. */
int tx_check_collected(const Recorder *self, vp_position position);
int tx_reason_add(Recorder *self, uint32_t condition, PyObject *text);
/* Room for a transaction, in the log or in what waits; NULL with an error set. */
void *tx_log_room(Recorder *self, size_t size);
int tx_check_size(const Recorder *self, size_t size, uint32_t count, uint32_t registers);

/* -- batches */

PyObject *tx_start_rows(Recorder *self, PyObject *count);
PyObject *tx_begin_rows(Recorder *self, PyObject *const *args, Py_ssize_t count);
/* What a block has said is one of the batch's from now on; -1 with an error set. */
int tx_block_end(Transaction *self, Recorder *recorder);
void tx_block_free(Block *block);
int tx_block_reason(Block *block, uint32_t condition, PyObject *text);
/* Frees what only those need that write it out. */
void tx_block_shrink(Block *block);
void tx_batch_drop(Recorder *self);
/* The first batch, all rows of which were called back, goes. */
void tx_batch_pop(Recorder *self);
void tx_batches_clear(Recorder *self);
/* The batch that is recorded. */
static inline Batch *tx_batch(const Recorder *self)
{
    return &self->batches[self->batch_count - 1];
}
/* Writes all transactions of the batch that is recorded; -1 with an error set. */
int tx_batch_place(Recorder *self, const vp_positions *positions, uint64_t first);
PyObject *tx_take_rows(Recorder *self, PyObject *count);

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
int tx_know_alone(Recorder *self, const vp_tx *tx);
/* Whether a function of the task's whose turn comes can be run here. */
int tx_may_run_alone(const Recorder *self);
/* What came of the next one; NULL with an error set. */
PyObject *tx_alone_result(Recorder *self, const vp_tx *tx);

/* -- results */

/* The transaction at a byte counter, which moves behind it, if it is evaluated and of the oldest input; else NULL. */
const vp_tx *tx_next_taken(const Recorder *self, uint64_t *at);
/* The number of a condition, which its instruction has. */
static inline uint32_t tx_condition(const vp_tx_instruction *instruction)
{
    return instruction->table | (uint32_t)instruction->column << 8;
}
/* "no row 17 in accounts" */
PyObject *tx_reason_missing(PyObject *tables, uint32_t table, uint32_t row);

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
