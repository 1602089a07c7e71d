/* Python's values in the words of a row: numbers in one word, texts and bytes in two. */
#include "state.h"

int words_of_code(char code)
{
    switch (code) {
    case INTEGER:
    case REAL:
    case TRUTH:
        return 1;
    case STRING:
    case BINARY:
        return 2;
    default:
        return 0;
    }
}

PyObject *state_of_bytes(char code, const char *bytes, Py_ssize_t length)
{
    return code == STRING ? PyUnicode_DecodeUTF8(bytes, length, "surrogatepass") : PyBytes_FromStringAndSize(bytes, length);
}

PyObject *state_value(const KeyedTable *table, char code, const uint64_t *words)
{
    double real;
    uint64_t length;
    const char *bytes;
    switch (code) {
    case INTEGER:
        return PyLong_FromLongLong((int64_t)words[0]);
    case REAL:
        memcpy(&real, words, sizeof real);
        return PyFloat_FromDouble(real);
    case TRUTH:
        return PyBool_FromLong(words[0] != 0);
    default:
        bytes = (const char *)vp_bytes_get(table->writer, (const vp_bytes *)words, &length);
        return state_of_bytes(code, bytes, (Py_ssize_t)length);
    }
}

static const char *expected_of(char code)
{
    return code == INTEGER ? "an int of 64 bits" : code == REAL ? "a float" : code == TRUTH ? "a bool"
         : code == STRING  ? "a str" : "bytes";
}

static int refuse(const KeyedTable *table, char code, PyObject *value)
{
    PyErr_Format(PyExc_TypeError, "state %U holds %s, and %R is none", table->name, expected_of(code), value);
    return -1;
}

/* Whether a value is a key of a type. */
static int is_key(char code, PyObject *key)
{
    int fits = code == INTEGER  ? PyLong_Check(key) && !PyBool_Check(key)
               : code == REAL   ? PyFloat_Check(key)
               : code == TRUTH  ? PyBool_Check(key)
               : code == STRING ? PyUnicode_Check(key)
               : code == BINARY ? PyBytes_Check(key)
                                : 1;
    int overflow = 0;
    if (fits && code == INTEGER)
        (void)PyLong_AsLongLongAndOverflow(key, &overflow);
    return fits && !overflow;
}

int state_check_key(const KeyedTable *table, char code, PyObject *key)
{
    if (is_key(code, key))
        return 0;
    PyObject *python = rows_python_of(key);
    int fits = python != NULL && is_key(code, python);
    if (python != NULL && !fits)
        PyErr_Format(PyExc_TypeError, "a key of a map of state %U is %s, and %R is none", table->name, expected_of(code), key);
    Py_XDECREF(python);
    return fits ? 0 : -1;
}

/* Whether a value has a type, and its word then. */
static int word_of(char code, PyObject *value, uint64_t *word)
{
    int overflow = 0;
    if (code == INTEGER) {
        if (!PyLong_CheckExact(value) && (!PyLong_Check(value) || PyBool_Check(value)))
            return 0;
        *word = (uint64_t)PyLong_AsLongLongAndOverflow(value, &overflow);
        return !overflow;
    }
    if (code == TRUTH) {
        *word = value == Py_True;
        return PyBool_Check(value);
    }
    double real = PyFloat_Check(value) ? PyFloat_AS_DOUBLE(value) : 0;
    if (!PyFloat_Check(value)) {
        long long number = PyLong_Check(value) && !PyBool_Check(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 1;
        real = (double)number;
        if (!PyLong_Check(value) || PyBool_Check(value) || overflow || number > 1LL << 53 || number < -(1LL << 53))
            return 0;
    }
    memcpy(word, &real, sizeof real);
    return 1;
}

int state_word(const KeyedTable *table, char code, PyObject *value, uint64_t *word)
{
    if (word_of(code, value, word))
        return 0;
    PyObject *python = rows_python_of(value);
    int fits = python != NULL && word_of(code, python, word);
    if (python != NULL && !fits)
        refuse(table, code, value);
    Py_XDECREF(python);
    return fits ? 0 : -1;
}

int state_check_sums(const KeyedTable *table, char code)
{
    if (code == INTEGER || code == REAL)
        return 0;
    PyErr_Format(PyExc_TypeError, "state %U holds no numbers, so nothing can be added", table->name);
    return -1;
}

int state_sum(const KeyedTable *table, char code, uint64_t word, uint64_t amount, uint64_t *made)
{
    if (code == REAL) {
        double sum, by;
        memcpy(&sum, &word, sizeof sum);
        memcpy(&by, &amount, sizeof by);
        sum += by;
        memcpy(made, &sum, sizeof sum);
        return 0;
    }
    int64_t number;
    int too_large = __builtin_add_overflow((int64_t)word, (int64_t)amount, &number);
    *made = (uint64_t)number;
    if (too_large)
        PyErr_Format(PyExc_OverflowError, "state %U: %lld and %lld are more than an int of 64 bits", table->name,
                     (long long)word, (long long)amount);
    return too_large ? -1 : 0;
}

static int write_word(KeyedTable *table, uint64_t *words, uint64_t word)
{
    if (vp_writer_reserve(table->writer, 1)) {
        table_is_full(table);
        return -1;
    }
    vp_write(table->writer, (vp_word *)words, word);
    return 0;
}

static int write_bytes(KeyedTable *table, vp_heap *heap, uint64_t *words, const char *data, Py_ssize_t size)
{
    if (vp_bytes_set(table->writer, heap, (vp_bytes *)words, data, (uint64_t)size) == 0)
        return 0;
    table_is_full(table);
    return -1;
}

PyObject *state_bytes(const KeyedTable *table, char code, PyObject *value, const char **data, Py_ssize_t *size)
{
    PyObject *bytes;
    if (code == BINARY ? !PyBytes_Check(value) : !PyUnicode_Check(value)) {
        refuse(table, code, value);
        return NULL;
    }
    if (code == STRING && PyUnicode_IS_COMPACT_ASCII(value)) {
        *data = PyUnicode_DATA(value);
        *size = PyUnicode_GET_LENGTH(value);
        return Py_NewRef(value);
    }
    bytes = code == STRING ? PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass") : Py_NewRef(value);
    if (bytes != NULL) {
        *data = PyBytes_AS_STRING(bytes);
        *size = PyBytes_GET_SIZE(bytes);
    }
    return bytes;
}

int state_set_value(KeyedTable *table, vp_heap *heap, char code, uint64_t *words, PyObject *value)
{
    uint64_t word;
    const char *data;
    Py_ssize_t size;
    if (words_of_code(code) == 1)
        return state_word(table, code, value, &word) || write_word(table, words, word) ? -1 : 0;
    PyObject *bytes = state_bytes(table, code, value, &data, &size);
    int failed = bytes == NULL || write_bytes(table, heap, words, data, size);
    Py_XDECREF(bytes);
    return failed ? -1 : 0;
}
