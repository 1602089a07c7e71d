/* Rows out of the bytes that state_export.c makes of them. */
#include "state.h"

typedef struct {
    const uint8_t *next;
    uint64_t left;
} Reader;

/* The next bytes; NULL where there are not so many. */
static const uint8_t *take(Reader *from, uint64_t size)
{
    const uint8_t *bytes = from->next;
    if (size > from->left)
        return NULL;
    from->next += size;
    from->left -= size;
    return bytes;
}

static int take_number(Reader *from, void *number, size_t size)
{
    const uint8_t *bytes = take(from, size);
    if (bytes == NULL)
        return -1;
    memcpy(number, bytes, size);
    return 0;
}

/* Bytes behind their length; NULL where they are cut off. */
static const uint8_t *take_bytes(Reader *from, uint64_t *length)
{
    return take_number(from, length, sizeof *length) ? NULL : take(from, *length);
}

static int refuse(const KeyedTable *table)
{
    PyErr_Format(PyExc_ValueError, "state %U: the bytes of its rows are cut off, or of other columns", table->name);
    return -1;
}

static int full(const KeyedTable *table)
{
    table_is_full(table);
    return -1;
}

typedef struct {
    uint64_t hash;
    const uint8_t *bytes, *shown;
    uint32_t length, shown_length;
} ReadKey;

static int take_key(Reader *from, ReadKey *key)
{
    uint32_t size;
    *key = (ReadKey){0};
    if (take_number(from, &key->hash, sizeof key->hash) || take_number(from, &size, sizeof size))
        return -1;
    key->length = size & ~ROW_SHOWN;
    key->bytes = take(from, key->length);
    if (key->bytes == NULL || key->length == 0)
        return -1;
    if (size & ROW_SHOWN) {
        if (take_number(from, &key->shown_length, sizeof key->shown_length))
            return -1;
        key->shown = take(from, key->shown_length);
        return key->shown == NULL ? -1 : 0;
    }
    return 0;
}

/* NULL with an error set. */
static vp_row *enter(KeyedTable *table, vp_keyed *rows, vp_heap *heap, const ReadKey *key)
{
    bool moved;
    uint64_t before = vp_keyed_count(rows);
    vp_row *row = vp_keyed_enter(table->writer, rows, heap, key->hash, key->bytes, key->length, &moved);
    table->moves += moved;
    if (row != NULL && (vp_keyed_count(rows) == before || key->shown_length == 0 ||
                        vp_bytes_set(table->writer, heap, (vp_bytes *)vp_row_values(row), key->shown, key->shown_length) == 0))
        return row;
    table_is_full(table);
    return NULL;
}

static int load_number(KeyedTable *table, uint64_t *words, Reader *from)
{
    uint64_t number;
    if (take_number(from, &number, sizeof number))
        return refuse(table);
    if (vp_writer_reserve(table->writer, 1))
        return full(table);
    vp_write(table->writer, (vp_word *)words, number);
    return 0;
}

static int load_bytes(KeyedTable *table, vp_heap *heap, uint64_t *words, Reader *from)
{
    uint64_t length;
    const uint8_t *bytes = take_bytes(from, &length);
    if (bytes == NULL)
        return refuse(table);
    return vp_bytes_set(table->writer, heap, (vp_bytes *)words, bytes, length) ? full(table) : 0;
}

static int load_columns(KeyedTable *table, vp_heap *heap, vp_row *row, Reader *from)
{
    const char *codes = PyBytes_AS_STRING(table->codes);
    uint64_t *words = row_words(row);
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(table->codes); i++) {
        if (words_of_code(codes[i]) == 1 ? load_number(table, words, from) : load_bytes(table, heap, words, from))
            return -1;
        words += words_of_code(codes[i]);
    }
    return 0;
}

static int load_list(KeyedTable *table, vp_heap *heap, vp_row *row, Reader *from)
{
    uint64_t count, length;
    Reader elements = *from;
    if (take_number(&elements, &count, sizeof count))
        return refuse(table);
    Reader bytes = elements;
    const uint8_t *data = take_bytes(&elements, &length);
    if (data == NULL)
        return refuse(table);
    if (list_fits(table, data, length, count) || load_bytes(table, heap, row_words(row), &bytes))
        return -1;
    return load_number(table, list_count(row), from) || take_bytes(from, &length) == NULL ? -1 : 0;
}

static int load_map(KeyedTable *table, vp_heap *heap, vp_row *row, Reader *from)
{
    uint32_t count;
    ReadKey key;
    vp_keyed *rows = map_rows(table, row);
    if (take_number(from, &count, sizeof count))
        return refuse(table);
    if (rows == NULL && (rows = map_make(table, heap, row)) == NULL)
        return -1;
    for (; count > 0; count--) {
        if (take_key(from, &key))
            return refuse(table);
        vp_row *entry = enter(table, rows, heap, &key);
        if (entry == NULL || load_columns(table, heap, entry, from))
            return -1;
    }
    return 0;
}

static int load_row(KeyedTable *table, uint64_t group, Reader *from)
{
    ReadKey key;
    vp_heap *heap = table->heaps[group];
    if (take_key(from, &key))
        return refuse(table);
    if ((key.hash & (table->groups - 1)) != group) {
        PyErr_Format(PyExc_ValueError, "state %U: a row of key group %llu of %llu among those of key group %llu", table->name,
                     (unsigned long long)(key.hash & (table->groups - 1)), (unsigned long long)table->groups,
                     (unsigned long long)group);
        return -1;
    }
    vp_row *row = enter(table, table->tables[group], heap, &key);
    if (row == NULL || (table->is_timed && load_number(table, row_time(table, row), from)))
        return -1;
    return table->kind == COLUMNS ? load_columns(table, heap, row, from)
         : table->kind == LIST    ? load_list(table, heap, row, from)
                                  : load_map(table, heap, row, from);
}

PyObject *table_load(KeyedTable *self, PyObject *args)
{
    unsigned long long group;
    Py_buffer data;
    if (!PyArg_ParseTuple(args, "Ky*", &group, &data))
        return NULL;
    Reader from = {data.buf, (uint64_t)data.len};
    int failed = table_owns(self, group);
    vp_savepoint before = vp_writer_savepoint(self->writer);
    while (!failed && from.left)
        failed = load_row(self, group, &from);
    PyBuffer_Release(&data);
    if (!failed)
        Py_RETURN_NONE;
    table_back(self, before);
    return NULL;
}
