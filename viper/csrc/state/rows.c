/* Rows of state: their keys, and what lies behind these.
 *
 *   columns   a word or two for each
 *   list      bytes in which the elements stand one after the other, and how many they are
 *   map       the offset of a table within the table, whose rows have one column; 0 where there is none
 */
#include "state.h"

#include <string.h>

/* -- keys */

/* Keeps the value of a key that its bytes do not tell; -1 with an error set. */
static int keep_shown(KeyedTable *table, vp_heap *heap, vp_row *row, const Key *key)
{
    PyObject *bytes = PyObject_CallOneArg(table->dump, key->value);
    int failed = bytes == NULL || state_set_value(table, heap, BINARY, vp_row_values(row), bytes);
    Py_XDECREF(bytes);
    return failed ? -1 : 0;
}

vp_row *rows_enter(KeyedTable *table, vp_keyed *rows, vp_heap *heap, const Key *key)
{
    bool moved;
    uint64_t before = vp_keyed_count(rows);
    vp_row *row = vp_keyed_enter(table->writer, rows, heap, key->hash, key->bytes, key->length, &moved);
    table->moves += moved;
    if (row == NULL)
        table_is_full(table);
    else if (!key->whole && vp_keyed_count(rows) > before && keep_shown(table, heap, row, key))
        return NULL;
    return row;
}

PyObject *row_key(const KeyedTable *table, vp_row *row)
{
    uint64_t length;
    const uint8_t *bytes = vp_bytes_get(table->writer, (const vp_bytes *)vp_row_values(row), &length);
    if (length) {
        PyObject *shown = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)length), *value = NULL;
        if (shown != NULL)
            value = PyObject_CallOneArg(table->load, shown);
        Py_XDECREF(shown);
        return value;
    }
    bytes = vp_row_key(table->writer, row, &length);
    return key_to_value(bytes, length);
}

/* -- columns */

static PyObject *column_values(const KeyedTable *table, const uint64_t *words)
{
    const char *codes = PyBytes_AS_STRING(table->codes);
    Py_ssize_t count = PyBytes_GET_SIZE(table->codes);
    PyObject *values = PyTuple_New(count);
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
        PyObject *value = state_value(table, codes[i], words);
        if (value == NULL)
            Py_CLEAR(values);
        else
            PyTuple_SET_ITEM(values, i, value);
        words += words_of_code(codes[i]);
    }
    return values;
}

int row_set_columns(KeyedTable *table, vp_heap *heap, vp_row *row, PyObject *values)
{
    const char *codes = PyBytes_AS_STRING(table->codes);
    uint64_t *words = row_words(row);
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(table->codes); i++) {
        if (state_set_value(table, heap, codes[i], words, PyTuple_GET_ITEM(values, i)))
            return -1;
        words += words_of_code(codes[i]);
    }
    return 0;
}

/* Frees the bytes of a row of columns: 0, or VP_NO_ROOM. */
static int free_columns(KeyedTable *table, vp_heap *heap, vp_row *row)
{
    const char *codes = PyBytes_AS_STRING(table->codes);
    uint64_t *words = row_words(row);
    int failed = vp_bytes_free(table->writer, heap, (vp_bytes *)vp_row_values(row));
    for (Py_ssize_t i = 0; !failed && i < PyBytes_GET_SIZE(table->codes); i++) {
        if (words_of_code(codes[i]) == 2)
            failed = vp_bytes_free(table->writer, heap, (vp_bytes *)words);
        words += words_of_code(codes[i]);
    }
    return failed;
}

int rows_drop(KeyedTable *table, vp_keyed *rows, vp_heap *heap, vp_row *row)
{
    if (free_columns(table, heap, row) == 0 && vp_keyed_drop(table->writer, rows, heap, row) == 0)
        return 0;
    table_is_full(table);
    return -1;
}

/* -- lists */

static int cut_off(const KeyedTable *table)
{
    PyErr_Format(PyExc_ValueError, "state %U: the bytes of a list are cut off", table->name);
    return -1;
}

/* Bytes of the element that begins at `from`; -1 with an error set. */
static int64_t element_size(const KeyedTable *table, char code, const uint8_t *from, uint64_t left)
{
    uint32_t size = 0;
    uint64_t whole = code == TRUTH ? 1 : words_of_code(code) == 1 ? sizeof(uint64_t) : sizeof size;
    if (whole == sizeof size && left >= whole) {
        memcpy(&size, from, sizeof size);
        whole += size;
    }
    return left < whole ? cut_off(table) : (int64_t)whole;
}

static PyObject *element(const KeyedTable *table, char code, const uint8_t *from, uint64_t size)
{
    uint64_t word = *from;
    if (code == STRING || code == BINARY)
        return state_of_bytes(code, (const char *)from + sizeof(uint32_t), (Py_ssize_t)(size - sizeof(uint32_t)));
    if (code != TRUTH)
        memcpy(&word, from, sizeof word);
    return state_value(table, code, &word);
}

PyObject *list_values(const KeyedTable *table, vp_row *row)
{
    char code = PyBytes_AS_STRING(table->codes)[0];
    PyObject *list = PyList_New(0);
    uint64_t length = 0;
    const uint8_t *from = row == NULL ? NULL : vp_bytes_get(table->writer, (vp_bytes *)row_words(row), &length);
    while (list != NULL && length) {
        int64_t size = element_size(table, code, from, length);
        PyObject *value = size < 0 ? NULL : element(table, code, from, (uint64_t)size);
        if (value == NULL || PyList_Append(list, value))
            Py_CLEAR(list);
        Py_XDECREF(value);
        from += size;
        length -= (uint64_t)size;
    }
    return list;
}

int list_fits(const KeyedTable *table, const uint8_t *from, uint64_t length, uint64_t count)
{
    char code = PyBytes_AS_STRING(table->codes)[0];
    for (; length; count--) {
        int64_t size = count ? element_size(table, code, from, length) : cut_off(table);
        if (size < 0)
            return -1;
        from += size;
        length -= (uint64_t)size;
    }
    return count ? cut_off(table) : 0;
}

/* -- maps */

vp_keyed *map_make(KeyedTable *table, vp_heap *heap, vp_row *row)
{
    uint64_t offset = vp_keyed_new(table->writer, heap, SHOWN_WORDS + (uint32_t)columns_words(table));
    if (offset && vp_writer_reserve(table->writer, 1) == 0) {
        vp_write(table->writer, (vp_word *)row_words(row), offset);
        return map_rows(table, row);
    }
    table_is_full(table);
    return NULL;
}

/* 0, or VP_NO_ROOM. */
static int free_map(KeyedTable *table, vp_heap *heap, vp_row *row)
{
    vp_keyed *rows = map_rows(table, row);
    vp_row *entry;
    if (rows == NULL)
        return 0;
    for (uint64_t number = 0; (entry = vp_keyed_next(table->writer, rows, &number)) != NULL; number++)
        if (free_columns(table, heap, entry))
            return VP_NO_ROOM;
    return vp_keyed_free(table->writer, rows, heap);
}

PyObject *map_entries(const KeyedTable *table, const vp_row *of, PyObject *(*make)(const KeyedTable *, vp_row *))
{
    vp_keyed *rows = map_rows(table, of);
    PyObject *entries = PyList_New(0);
    vp_row *row;
    for (uint64_t number = 0; entries != NULL && rows != NULL && (row = vp_keyed_next(table->writer, rows, &number)) != NULL;
         number++) {
        PyObject *made = make(table, row);
        if (made == NULL || PyList_Append(entries, made))
            Py_CLEAR(entries);
        Py_XDECREF(made);
    }
    return entries;
}

PyObject *entry_value(const KeyedTable *table, vp_row *row)
{
    return state_value(table, PyBytes_AS_STRING(table->codes)[0], row_words(row));
}

PyObject *entry_item(const KeyedTable *table, vp_row *row)
{
    PyObject *key = row_key(table, row), *value = key == NULL ? NULL : entry_value(table, row);
    if (value == NULL) {
        Py_XDECREF(key);
        return NULL;
    }
    return Py_BuildValue("(NN)", key, value);
}

/* -- rows of all kinds */

int columns_words(const KeyedTable *table)
{
    int words = 0;
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(table->codes); i++)
        words += words_of_code(PyBytes_AS_STRING(table->codes)[i]);
    return words;
}

PyObject *row_values(const KeyedTable *table, vp_row *row)
{
    PyObject *of_row;
    if (table->kind == COLUMNS)
        return column_values(table, row_words(row));
    of_row = table->kind == LIST ? list_values(table, row) : map_entries(table, row, entry_item);
    return of_row == NULL ? NULL : Py_BuildValue("(N)", of_row);
}

int table_drop(KeyedTable *table, uint64_t group, vp_row *row)
{
    vp_heap *heap = table->heaps[group];
    if (table_touch(table, group, row))
        return -1;
    int failed = 0;
    if (table->kind == COLUMNS)
        failed = free_columns(table, heap, row);
    else
        failed = vp_bytes_free(table->writer, heap, (vp_bytes *)vp_row_values(row)) ||
                 (table->kind == LIST ? vp_bytes_free(table->writer, heap, (vp_bytes *)row_words(row))
                                      : free_map(table, heap, row));
    if (failed || vp_keyed_drop(table->writer, table->tables[group], heap, row)) {
        table_is_full(table);
        return -1;
    }
    table->moves++; /* nobody may go on with the row */
    return 0;
}
