/* Shared tables as Python sees them: keys as bytes, values as words, and rows. record.h has transactions on them.
 *
 *   key.c     keys of rows, and elements of sets, as bytes
 *   rows.c    SharedRows: the rows of a table
 *   values.c  numbers as words of columns, and back
 */
#ifndef VIPER_TX_H
#define VIPER_TX_H

#include "state/inbox.h"

#include <string.h>

#include "keys/key.h"
#include "viper/shared.h"

/* What a column holds, and a value of a key. */
enum { TX_INT = 'q', TX_FLOAT = 'd', TX_SET = '*', TX_TEXT = 's' };
/* What a register holds that is neither: 0 or 1. What no register holds: an int beyond 64 bits. */
enum { TX_BOOL = '?', TX_BEYOND = '>' };

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
PyObject *tx_key_value(const SharedRows *table, const unsigned char *data, size_t length);
/* (row, column, element) of an element's key. */
PyObject *tx_element_value(const unsigned char *data, size_t length, int64_t *row, int *column);

/* The key that a number is, in a table of such keys. */
void tx_key_of_number(RowKey *key, int64_t number);
/* 1: it is an int of 64 bits, of any class but bool; TX_BEYOND: a larger one; 0: it is none; these without an error. -1 with an
 * error set. */
int tx_take_int64(PyObject *value, int64_t *number);
/* Enters the key that was made; -1 with an error set. */
int64_t tx_enter_key(const SharedRows *table, const RowKey *key, PyObject *full);

/* The number of the row of a key, entered if need be; -1 with an error set. `full`: the class of that error. */
int64_t tx_row(const SharedRows *table, PyObject *value, RowKey *scratch, PyObject *full);
int64_t tx_element(const SharedRows *table, int64_t row, int column, PyObject *value, RowKey *scratch, PyObject *full);

/* The word of a number of any class, numpy's scalars included, and its kind: TX_INT, TX_BOOL, TX_FLOAT, or TX_BEYOND, of which
 * there is no word; 0: it is none, without an error; -1 with an error set. */
int tx_plain(PyObject *value, int64_t *word);
/* Likewise the numbers of a buffer of one dimension or none; ints that are not signed are told by the sign of their words. */
char tx_plain_numbers(const Py_buffer *view, int64_t *words, int *are_unsigned);
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

/* What of a handle can be looked at where it is refused. */
int tx_is_handle(PyObject *candidate);

extern PyType_Spec tx_recorder_spec;
extern PyType_Spec tx_transaction_spec;
extern PyType_Spec tx_handle_spec;
extern PyType_Spec tx_result_spec;
extern PyType_Spec tx_row_results_spec;

#endif
