/* Keys of rows as bytes: a number as its eight, a text as UTF-8, several values as keys/key.h has tuples. Their hash is the stable one.
 *
 * The key of an element of a set is its canonical bytes, the number of the row that the set is of, and that of its column. */
#include "tx.h"

#include "keys/canonical.h"
#include "few.h"

enum { BEHIND = sizeof(uint32_t) + 1 }; /* a row's number, and a column's */

static const Rare none_is_rare = {NULL, NULL}; /* exact texts, and ints of 64 bits, are never asked about */

void tx_key_clear(RowKey *key)
{
    key_clear(&key->canonical);
    PyMem_Free(key->joined);
    *key = (RowKey){0};
}

/* "int64", or "(int64, text)". */
static PyObject *expected_key(const SharedRows *table)
{
    PyObject *names = PyList_New(0), *separator = PyUnicode_FromString(", "), *joined = NULL, *text = NULL;
    for (int i = 0; names != NULL && i < table->parts; i++) {
        PyObject *name = tx_kind_name(table->parts_kinds[i]);
        if (name == NULL || PyList_Append(names, name))
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    if (names != NULL && separator != NULL)
        joined = PyUnicode_Join(separator, names);
    if (joined != NULL)
        text = PyUnicode_FromFormat(table->is_single ? "%U" : "a tuple (%U)", joined);
    Py_XDECREF(names);
    Py_XDECREF(separator);
    Py_XDECREF(joined);
    return text;
}

static int refuse_handle(PyObject *table)
{
    PyErr_Format(PyExc_TypeError,
                 "a handle is no key of table %U: its value is known only when the transaction is evaluated. Take keys from the "
                 "tuple, or let a function look them up: self.alone(tup, function)",
                 table);
    return -1;
}

static int refuse_key(const SharedRows *table, PyObject *value)
{
    PyObject *expected = expected_key(table);
    if (tx_is_handle(value))
        refuse_handle(table->name);
    else if (expected != NULL)
        PyErr_Format(PyExc_TypeError, "a key of table %U is %U; found %.100R of type %.100s", table->name, expected, value,
                     Py_TYPE(value)->tp_name);
    Py_XDECREF(expected);
    return -1;
}

/* Numbers of numpy's are ints, too. */
int tx_take_int64(PyObject *value, int64_t *number)
{
    int overflow = 0;
    if (PyLong_CheckExact(value)) {
        *number = PyLong_AsLongLongAndOverflow(value, &overflow);
    } else {
        if (PyBool_Check(value) || !PyIndex_Check(value) || tx_is_handle(value))
            return 0;
        PyObject *index = PyNumber_Index(value);
        if (index == NULL)
            return -1;
        *number = PyLong_AsLongLongAndOverflow(index, &overflow);
        Py_DECREF(index);
    }
    return overflow ? TX_BEYOND : PyErr_Occurred() ? -1 : 1;
}

void tx_key_of_number(RowKey *key, int64_t number)
{
    key->word = (uint64_t)number;
    key->data = (const unsigned char *)&key->word;
    key->length = sizeof key->word;
    key->hash = hash_of_residue(residue_of_signed(number));
}

/* The canonical bytes of an exact value, without the first `skipped`. */
static int canonical_key(RowKey *key, PyObject *exact, size_t skipped)
{
    if (key_of_value(&key->canonical, exact, &none_is_rare))
        return -1;
    key->data = key->canonical.bytes + skipped;
    key->length = key->canonical.length - skipped;
    key->hash = key->canonical.hash;
    return 0;
}

static int text_key(RowKey *key, PyObject *text)
{
    PyObject *exact = PyUnicode_FromObject(text); /* itself, unless it is of a subclass */
    int failed = exact == NULL || canonical_key(key, exact, 1);
    Py_XDECREF(exact);
    return failed ? -1 : 0;
}

static int refuse_beyond(const SharedRows *table, const char *what, PyObject *value)
{
    PyErr_Format(PyExc_OverflowError, "%s of table %U is int64; found %.100R, which does not fit into 64 bits", what, table->name, value);
    return -1;
}

/* The exact value of a part of a key, of a new reference; NULL where it is none, without an error unless one is set. */
static PyObject *exact_part(const SharedRows *table, char kind, PyObject *value)
{
    int64_t number;
    if (kind == TX_TEXT)
        return PyUnicode_Check(value) ? PyUnicode_FromObject(value) : NULL;
    int taken = tx_take_int64(value, &number);
    if (taken == TX_BEYOND)
        refuse_beyond(table, "a part of a key", value);
    return taken == 1 ? PyLong_FromLongLong(number) : NULL;
}

static int tuple_key(const SharedRows *table, RowKey *key, PyObject *value)
{
    if (!PyTuple_Check(value) || PyTuple_GET_SIZE(value) != table->parts)
        return refuse_key(table, value);
    PyObject *exact = PyTuple_New(table->parts);
    for (int i = 0; exact != NULL && i < table->parts; i++) {
        PyObject *part = exact_part(table, table->parts_kinds[i], PyTuple_GET_ITEM(value, i));
        if (part == NULL) {
            Py_DECREF(exact);
            return PyErr_Occurred() ? -1 : refuse_key(table, value);
        }
        PyTuple_SET_ITEM(exact, i, part);
    }
    int failed = exact == NULL || canonical_key(key, exact, 0);
    Py_XDECREF(exact);
    return failed ? -1 : 0;
}

int tx_key_make(const SharedRows *table, PyObject *value, RowKey *key)
{
    if (!table->is_single)
        return tuple_key(table, key, value);
    if (table->parts_kinds[0] == TX_TEXT)
        return PyUnicode_Check(value) ? text_key(key, value) : refuse_key(table, value);
    int64_t number;
    int taken = tx_take_int64(value, &number);
    if (taken == 1)
        tx_key_of_number(key, number);
    if (taken == TX_BEYOND)
        return refuse_beyond(table, "a key", value);
    return taken == 1 ? 0 : taken == 0 ? refuse_key(table, value) : -1;
}

PyObject *tx_key_value(const SharedRows *table, const unsigned char *data, size_t length)
{
    int64_t number;
    if (!table->is_single)
        return key_to_value(data, length);
    if (table->parts_kinds[0] == TX_TEXT)
        return PyUnicode_DecodeUTF8((const char *)data, (Py_ssize_t)length, "surrogatepass");
    if (length != sizeof number) {
        PyErr_Format(PyExc_ValueError, "table %U has a key of %zu bytes where it has 8", table->name, length);
        return NULL;
    }
    memcpy(&number, data, sizeof number);
    return PyLong_FromLongLong(number);
}

/* -- elements */

static int join(RowKey *key, unsigned char kind, const void *data, size_t size, int64_t row, int column)
{
    size_t length = 1 + size + BEHIND;
    if (key->room < length) {
        unsigned char *joined = PyMem_Realloc(key->joined, 2 * length);
        if (joined == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        key->joined = joined;
        key->room = 2 * length;
    }
    uint32_t number = (uint32_t)row;
    key->joined[0] = kind;
    vp_copy_few(key->joined + 1, data, size);
    memcpy(key->joined + 1 + size, &number, sizeof number);
    key->joined[length - 1] = (unsigned char)column;
    key->data = key->joined;
    key->length = length;
    key->hash = hash_of_bytes(key->joined, length, KIND_BYTES);
    return 0;
}

static int refuse_element(const SharedRows *table, int column, PyObject *value)
{
    PyObject *name = tx_column_name(table, column);
    if (name != NULL && tx_is_handle(value))
        PyErr_Format(PyExc_TypeError, "a handle is no element of the set %U: its value is not known yet", name);
    else if (name != NULL)
        PyErr_Format(PyExc_TypeError, "an element of the set %U is an int or a text; found %.100R of type %.100s", name, value,
                     Py_TYPE(value)->tp_name);
    Py_XDECREF(name);
    return -1;
}

/* The key of an element that is a number; -1 with an error set. */
static int element_of_number(RowKey *key, int64_t row, int column, int64_t number)
{
    return join(key, 'i', &number, sizeof number, row, column);
}

/* Makes the bytes of an element of the set in a column of a row; -1 with an error set. */
static int element_make(const SharedRows *table, int64_t row, int column, PyObject *value, RowKey *key)
{
    int64_t number;
    if (PyUnicode_Check(value)) /* its bytes lie in `canonical`, those of the element in `joined` */
        return text_key(key, value) ? -1 : join(key, 't', key->data, key->length, row, column);
    int taken = tx_take_int64(value, &number);
    if (taken == 1)
        return element_of_number(key, row, column, number);
    if (taken == TX_BEYOND)
        return refuse_beyond(table, "an element of a set", value);
    return taken == 0 ? refuse_element(table, column, value) : -1;
}

PyObject *tx_element_value(const unsigned char *data, size_t length, int64_t *row, int *column)
{
    uint32_t number;
    if (length <= BEHIND) {
        PyErr_Format(PyExc_ValueError, "an element of a set has %zu bytes", length);
        return NULL;
    }
    memcpy(&number, data + length - BEHIND, sizeof number);
    *row = number;
    *column = data[length - 1];
    return key_to_value(data, length - BEHIND);
}

/* -- rows */

static int64_t refuse_full(const SharedRows *table, const char *what, unsigned long long most, const char *option, PyObject *full)
{
    PyErr_Format(full, "table %U has no room for another %s: it was made for %s=%llu, and texts of no more than text_bytes on average",
                 table->name, what, option, most);
    return -1;
}

int64_t tx_enter_key(const SharedRows *table, const RowKey *key, PyObject *full)
{
    int64_t row = vp_shared_enter(table->rows, key->hash, key->data, key->length);
    return row >= 0 ? row : refuse_full(table, "key", table->most_rows, "rows", full);
}

static int64_t enter_element(const SharedRows *table, const RowKey *key, PyObject *full)
{
    int64_t element = vp_shared_enter(table->elements, key->hash, key->data, key->length);
    return element >= 0 ? element : refuse_full(table, "element of its sets", table->most_elements, "elements", full);
}

int64_t tx_row(const SharedRows *table, PyObject *value, RowKey *scratch, PyObject *full)
{
    return tx_key_make(table, value, scratch) ? -1 : tx_enter_key(table, scratch, full);
}

int64_t tx_element(const SharedRows *table, int64_t row, int column, PyObject *value, RowKey *scratch, PyObject *full)
{
    return element_make(table, row, column, value, scratch) ? -1 : enter_element(table, scratch, full);
}
