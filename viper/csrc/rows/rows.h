/* Rows and records: what happens once per tuple between user code and jumbo tuples.
 *
 *   Outbox     what a component emits: a row per emit, snapshotted, with the port (stream) it goes to
 *   Inbox      what a component receives: a record per row, and how far the outbox was after each
 *   calls      a function, called with the values of each row
 *   pick       some of the values of each row
 *   fold       each row given to the value of its key
 *   partition  rows divided among the tasks that a grouping chose
 *   codec      rows as bytes, for other processes
 *   SlotTable  small numbers for the keys of an Arrow column
 *   keys/hashing.h  which task a row goes to by its key
 *   checksum   whether bytes are still those that were written
 *
 * They are the only places where C touches Python objects, and they exist for their cost: word count
 * over the King James Bible, per word, takes 900 ns with both in Python and 370 ns with both here, where
 * the plain loop of three functions takes 180 ns (CPython 3.11, one core, medians).
 *
 * The limited API would make one wheel serve all versions, but it turns each access to a tuple or list
 * into a call: a record then costs 90 ns instead of 66, and the whole word count 10 % more.
 *
 * Threads. Every object is used by the thread that runs its task, and by no other, but for the outbox, into
 * which components also emit from threads of their own: its methods, and all that reads it, are atomic, by the
 * GIL or, in a free-threaded interpreter, by its critical section. There, lists of a user's are locked while they are read.
 */
#ifndef VIPER_ROWS_H
#define VIPER_ROWS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#ifndef Py_BEGIN_CRITICAL_SECTION /* before 3.13, where the GIL always is */
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#define Py_BEGIN_CRITICAL_SECTION2(first, second) {
#define Py_END_CRITICAL_SECTION2() }
#endif

typedef struct {
    Py_ssize_t arity; /* number of values; -1: any */
    int keep;         /* whether anybody subscribes */
    PyObject *codes;  /* of a typed stream: bytes with the type of each value, see fits.c; else NULL */
} Port;

typedef struct {
    PyObject_HEAD
    PyObject *rows;    /* list of row tuples, in order of emit */
    PyObject *notes;   /* list of (index of the row, note); NULL: none */
    PyObject *names;   /* dict: stream name -> index of its port */
    PyObject *slow;    /* emit in Python, for everything that is not the common case */
    PyObject *on_full; /* called when `limit` rows are waiting */
    PyObject *on_row;  /* called for each row that another thread than the silent one puts; NULL: never */
    unsigned long silent_thread; /* 0: none */
    Py_ssize_t limit;
    int takes_ids; /* whether the common emit may have an id, which is noted */
    Port *ports;
    Py_ssize_t port_count;
    Py_ssize_t default_port; /* -1: none is called "default" */
    uint16_t *tags;          /* port of each row; NULL while there is but one port */
    Py_ssize_t tag_capacity;
    unsigned long long discarded; /* emits to ports that nobody subscribes to */
    PyObject *given;         /* the values in process, as an inbox has handed them out; NULL: none, or they are their row */
    PyObject *given_row;     /* the row that they were made of, an exact tuple */
    int is_given_sealed;     /* whether nobody can change any of its values, as was seen when they were emitted */
} Outbox;

extern PyType_Spec rows_outbox_spec;
extern PyType_Spec rows_inbox_spec;
extern PyType_Spec rows_decoder_spec;
extern PyType_Spec rows_slots_spec;

/* Whether an object is an Outbox. */
int rows_is_outbox(PyObject *candidate);

/* Number of rows that wait in an outbox. Its list is another one behind each take. */
static inline Py_ssize_t rows_waiting(Outbox *outbox)
{
    Py_ssize_t waiting;
    Py_BEGIN_CRITICAL_SECTION(outbox);
    waiting = PyList_GET_SIZE(outbox->rows);
    Py_END_CRITICAL_SECTION();
    return waiting;
}

/* Has an outbox know that values were made of a row, an exact tuple of the same items: where a component emits these very
 * values, the row goes on, and no copy. NULL: none are in process. Those of a sealed row are not looked at again: with that
 * look a filter of records of 100 fields takes 5,749 instructions a record, without it 4,790. */
static inline void rows_give(Outbox *outbox, PyObject *values, PyObject *row, int is_sealed)
{
#ifndef Py_GIL_DISABLED /* where a thread of the component's might read them meanwhile */
    PyObject *values_before = outbox->given, *row_before = outbox->given_row;
    outbox->given = Py_XNewRef(values);
    outbox->given_row = Py_XNewRef(row);
    outbox->is_given_sealed = is_sealed;
    Py_XDECREF(values_before); /* last, as they may run code that emits */
    Py_XDECREF(row_before);
#else
    (void)outbox, (void)values, (void)row, (void)is_sealed;
#endif
}

/* is_plain(value) -> bool, as Python calls it. */
PyObject *rows_is_plain(PyObject *module, PyObject *value);

/* Whether all items of a list are plain; 0 also where that cannot be told. */
int rows_are_plain(PyObject *list);

/* plain_rows(rows, arity, first, made) -> int, as Python calls it. */
PyObject *rows_plain_rows(PyObject *module, PyObject *args);

/* kept(value) -> object, as Python calls it. */
PyObject *rows_kept(PyObject *module, PyObject *value);

/* As rows_kept, and *all_plain is cleared where somebody could change the value. */
PyObject *rows_kept_plain(PyObject *value, int *all_plain);

/* What a scalar of NumPy or pandas stands for in Python, and any other value itself; NULL with an error set. */
PyObject *rows_python_of(PyObject *value);

/* encode_rows(rows, first) -> bytes or None, as Python calls it. */
PyObject *rows_encode(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* partition(rows, targets, parts) -> list of lists, as Python calls it. */
PyObject *rows_partition(PyObject *module, PyObject *args);

/* interleave(lists, firsts, chosen) -> list, as Python calls it. */
PyObject *rows_interleave(PyObject *module, PyObject *args);

/* gather(firsts, chosen) -> bytes, as Python calls it. */
PyObject *rows_gather(PyObject *module, PyObject *args);

/* interleave_tags(tags, firsts, bases, chosen) -> bytes, as Python calls it. */
PyObject *rows_interleave_tags(PyObject *module, PyObject *args);

/* call_each(function, rows, made, bare) -> (Exception or None, bool), as Python calls it. */
PyObject *rows_call_each(PyObject *module, PyObject *args);

/* call_flat(function, rows, made, bare) -> ((bytes, Exception or None), bool), as Python calls it. */
PyObject *rows_call_flat(PyObject *module, PyObject *args);

/* call_choosing(function, rows, made, bare) -> (bytes, Exception or None), as Python calls it. */
PyObject *rows_call_choosing(PyObject *module, PyObject *args);

/* pick(rows, indexes) -> list, as Python calls it. */
PyObject *rows_pick(PyObject *module, PyObject *args);

/* The exception that is set, which is set no more; None if none is; NULL if it is no Exception. */
PyObject *rows_caught(void);

/* fold(rows, made, functions, values, width, results) -> (Exception or None, bool), as Python calls it. */
PyObject *rows_fold(PyObject *module, PyObject *args);

/* are_ends(ends, size) -> bool, as Python calls it. */
PyObject *rows_are_ends(PyObject *module, PyObject *args);

/* ends(of, count) -> bytes or None, as Python calls it. */
PyObject *rows_ends(PyObject *module, PyObject *args);

/* bits_of_mask(mask) -> bytes and ends_of_bits(bits, count) -> bytes, as Python calls them. */
PyObject *rows_bits_of_mask(PyObject *module, PyObject *mask);
PyObject *rows_ends_of_bits(PyObject *module, PyObject *args);

/* is_valid(batch) -> bool, as Python calls it. */
PyObject *rows_is_valid(PyObject *module, PyObject *batch);

/* select(batch, bits, take) -> object | None, as Python calls it. */
PyObject *rows_select(PyObject *module, PyObject *args);

/* split_words(column, take) -> (object, bytes), as Python calls it. */
PyObject *rows_split_words(PyObject *module, PyObject *args);

/* copy_batch(batch, take) -> object | None, as Python calls it. */
PyObject *rows_copy(PyObject *module, PyObject *args);

/* count_up(slots, counts) -> bytes, as Python calls it. */
PyObject *rows_count_up(PyObject *module, PyObject *args);

/* exchange(slots, values, latest) -> bytes, as Python calls it. */
PyObject *rows_exchange(PyObject *module, PyObject *args);

/* misfit(rows, arity) -> int or None, as Python calls it. */
PyObject *rows_misfit(PyObject *module, PyObject *args);

/* is_ascii(data) -> bool, as Python calls it. */
PyObject *rows_is_ascii(PyObject *module, PyObject *buffer);

/* descent(times) -> int, as Python calls it. */
PyObject *rows_descent(PyObject *module, PyObject *buffer);

/* xxh64(data, seed) -> int, as Python calls it. */
PyObject *rows_xxh64(PyObject *module, PyObject *args);

/* An exact tuple of the values of a list or tuple, named ones too: a new one, or itself; NULL without an error where the
 * slow path has to decide, NULL with an error where memory ran out. An arity of -1 takes any number. */
PyObject *rows_plain_row(PyObject *values, Py_ssize_t arity);

/* The row itself where each value has the form that its code names, also where codes are NULL; else NULL without
 * an error, and the row is let go. */
PyObject *rows_fitting(PyObject *row, PyObject *codes);

#endif
