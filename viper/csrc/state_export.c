/* Rows as bytes, for checkpoints: in their order, one after the other, all numbers little-endian.
 *
 *   row      its key; of a timed table the time of its last change in 8 bytes; and what it holds: its columns; or the elements of a list: their number in 8 bytes, how many
 *            bytes they are in 8, and these; or the entries of a map: their number in 4 bytes, and these
 *   entry    its key, and one column
 *   key      its hash in 8 bytes; its length in 4, ROW_SHOWN in the upper bits; itself, and with ROW_SHOWN the bytes by
 *            which it is shown, behind their length in 4
 *   column   8 bytes, or bytes behind their length in 8
 *
 * A map with many entries is told by several rows of the same key.
 */
#include "state.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are written as they lie in memory"
#endif

int buffer_add(Buffer *buffer, const void *data, size_t size)
{
    if (buffer->length + size > buffer->room) {
        size_t room = 2 * (buffer->length + size);
        char *larger = PyMem_Realloc(buffer->data, room);
        if (larger == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        buffer->data = larger;
        buffer->room = room;
    }
    if (size)
        memcpy(buffer->data + buffer->length, data, size);
    buffer->length += size;
    return 0;
}

static int add_32(Buffer *to, uint32_t number)
{
    return buffer_add(to, &number, sizeof number);
}

static int add_64(Buffer *to, uint64_t number)
{
    return buffer_add(to, &number, sizeof number);
}

/* Bytes of a row, behind their length. */
static int add_bytes(Buffer *to, const KeyedTable *table, const uint64_t *words)
{
    uint64_t length;
    const uint8_t *bytes = vp_bytes_get(table->writer, (const vp_bytes *)words, &length);
    return add_64(to, length) || buffer_add(to, bytes, length) ? -1 : 0;
}

/* `lowest` is the hash's lowest bit, which a row does not have; it is that of the group. */
static int add_key(Buffer *to, const KeyedTable *table, vp_row *row, uint64_t lowest)
{
    uint64_t length, shown_length;
    const uint8_t *bytes = vp_row_key(table->writer, row, &length);
    const uint8_t *shown = vp_bytes_get(table->writer, (const vp_bytes *)vp_row_values(row), &shown_length);
    if (length >= ROW_SHOWN || shown_length > UINT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "state %U has a key of more than 2 GB", table->name);
        return -1;
    }
    uint32_t size = (uint32_t)length | (shown_length ? ROW_SHOWN : 0);
    if (add_64(to, vp_row_hash(row) | lowest) || add_32(to, size) || buffer_add(to, bytes, length))
        return -1;
    return shown_length && (add_32(to, (uint32_t)shown_length) || buffer_add(to, shown, shown_length)) ? -1 : 0;
}

static int add_columns(Buffer *to, const KeyedTable *table, vp_row *row)
{
    const char *codes = PyBytes_AS_STRING(table->codes);
    const uint64_t *words = row_words(row);
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(table->codes); i++) {
        if (words_of_code(codes[i]) == 1 ? add_64(to, *words) : add_bytes(to, table, words))
            return -1;
        words += words_of_code(codes[i]);
    }
    return 0;
}

/* Entries from one on, as many as there is room for; `entry` is the one to go on from then, 0 if that was the last. */
static int add_entries(Buffer *to, const KeyedTable *table, vp_row *of, uint64_t *entry, size_t limit)
{
    vp_keyed *rows = map_rows(table, of);
    vp_row *row = rows == NULL ? NULL : vp_keyed_next(table->writer, rows, entry);
    size_t counted_at = to->length;
    uint32_t count = 0;
    if (add_32(to, 0))
        return -1;
    while (row != NULL && (count == 0 || to->length < limit)) {
        if (add_key(to, table, row, 0) || add_columns(to, table, row))
            return -1;
        count++;
        ++*entry;
        row = vp_keyed_next(table->writer, rows, entry);
    }
    if (row == NULL)
        *entry = 0;
    memcpy(to->data + counted_at, &count, sizeof count);
    return 0;
}

static int add_row(Buffer *to, const KeyedTable *table, vp_row *row, uint64_t lowest, uint64_t *entry, size_t limit)
{
    if (add_key(to, table, row, lowest))
        return -1;
    if (table->is_timed && add_64(to, *row_time(table, row)))
        return -1;
    if (table->kind == COLUMNS)
        return add_columns(to, table, row);
    if (table->kind == LIST)
        return add_64(to, *list_count(row)) || add_bytes(to, table, row_words(row)) ? -1 : 0;
    return add_entries(to, table, row, entry, limit);
}

PyObject *table_export(KeyedTable *self, PyObject *args)
{
    unsigned long long group, first, first_entry;
    Py_ssize_t limit;
    if (!PyArg_ParseTuple(args, "KKKn", &group, &first, &first_entry, &limit) || table_owns(self, group))
        return NULL;
    Buffer made = {0};
    uint64_t number = first, entry = first_entry;
    size_t enough = limit < 1 ? 1 : (size_t)limit;
    int failed = 0;
    vp_row *row;
    while (!failed && made.length < enough && (row = vp_keyed_next(self->writer, self->tables[group], &number)) != NULL) {
        failed = add_row(&made, self, row, group & 1, &entry, enough);
        number += entry == 0;
    }
    PyObject *told = NULL;
    if (!failed)
        told = made.length == 0 ? Py_NewRef(Py_None)
                                : Py_BuildValue("(y#KK)", made.data, (Py_ssize_t)made.length, (unsigned long long)number,
                                                (unsigned long long)entry);
    PyMem_Free(made.data);
    return told;
}
