/* Rows as bytes, for checkpoints: one after the other, all numbers little-endian.
 *
 *   record   the number of a row in 4 bytes; how many bytes the row has in 4, 0 for one that has left; and these
 *   row      its key; of a timed table the time of its last change in 8 bytes; and what it holds: its columns; or the
 *            elements of a list: their number in 8 bytes, how many bytes they are in 8, and these; or the entries of a
 *            map: their number in 4 bytes, and these
 *   entry    its key, and one column
 *   key      its hash in 8 bytes, the lower half of which is its key group; its length in 4, ROW_SHOWN in the upper bits;
 *            itself, and with ROW_SHOWN the bytes by which it is shown, behind their length in 4
 *   column   8 bytes, or bytes behind their length in 8
 */
#include "state.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are written as they lie in memory"
#endif

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

static int add_key(Buffer *to, const KeyedTable *table, vp_row *row, uint64_t group)
{
    uint64_t length, shown_length;
    const uint8_t *bytes = vp_row_key(table->writer, row, &length);
    const uint8_t *shown = vp_bytes_get(table->writer, (const vp_bytes *)vp_row_values(row), &shown_length);
    if (length >= ROW_SHOWN || shown_length > UINT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "state %U has a key of more than 2 GB", table->name);
        return -1;
    }
    uint32_t size = (uint32_t)length | (shown_length ? ROW_SHOWN : 0);
    if (add_64(to, vp_row_hash(row) | group) || add_32(to, size) || buffer_add(to, bytes, length))
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

static int add_entries(Buffer *to, const KeyedTable *table, vp_row *of)
{
    vp_keyed *rows = map_rows(table, of);
    vp_row *row;
    if (add_32(to, rows == NULL ? 0 : (uint32_t)vp_keyed_count(rows)))
        return -1;
    for (uint64_t entry = 0; rows != NULL && (row = vp_keyed_next(table->writer, rows, &entry)) != NULL; entry++)
        if (add_key(to, table, row, 0) || add_columns(to, table, row))
            return -1;
    return 0;
}

static int add_row(Buffer *to, const KeyedTable *table, vp_row *row, uint64_t group)
{
    if (add_key(to, table, row, group))
        return -1;
    if (table->is_timed && add_64(to, *row_time(table, row)))
        return -1;
    if (table->kind == COLUMNS)
        return add_columns(to, table, row);
    if (table->kind == LIST)
        return add_64(to, *list_count(row)) || add_bytes(to, table, row_words(row)) ? -1 : 0;
    return add_entries(to, table, row);
}

int row_export(Buffer *to, const KeyedTable *table, uint64_t group, vp_row *row, uint64_t number)
{
    size_t begins = to->length;
    if (add_32(to, (uint32_t)number) || add_32(to, 0))
        return -1;
    if (row != NULL && add_row(to, table, row, group))
        return -1;
    size_t size = to->length - begins - 2 * sizeof(uint32_t);
    uint32_t told = (uint32_t)size;
    memcpy(to->data + begins + sizeof told, &told, sizeof told);
    if (told == size)
        return 0;
    PyErr_Format(PyExc_OverflowError, "state %U has a key with more than 4 GB, which no checkpoint can hold", table->name);
    return -1;
}
