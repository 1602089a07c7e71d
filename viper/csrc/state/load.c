/* Rows out of the bytes that export.c makes of them.
 *
 * A row may be told several times, by snapshots one after the other: the last time counts. Records that do not ascend
 * are sorted.
 */
#include "state.h"

#include <stdlib.h>

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

/* Enters a key into a group; NULL with an error set. */
static vp_row *enter_key(KeyedTable *table, uint64_t group, const ReadKey *key)
{
    uint64_t moves = table->moves;
    if (table->is_watched && table_before_moving(table, group))
        return NULL;
    vp_row *row = enter(table, table->tables[group], table->heaps[group], key);
    if (row == NULL || (table->moves != moves && table_have_moved(table, group)))
        return NULL;
    return table_touch(table, group, row) ? NULL : row;
}

static int load_row(KeyedTable *table, uint64_t group, Reader from)
{
    ReadKey key;
    vp_heap *heap = table->heaps[group];
    if (take_key(&from, &key))
        return refuse(table);
    if ((key.hash & (table->groups - 1)) != group) {
        PyErr_Format(PyExc_ValueError, "state %U: a row of key group %llu of %llu among those of key group %llu", table->name,
                     (unsigned long long)(key.hash & (table->groups - 1)), (unsigned long long)table->groups,
                     (unsigned long long)group);
        return -1;
    }
    vp_row *row = enter_key(table, group, &key);
    if (row == NULL || (table->is_timed && load_number(table, row_time(table, row), &from)))
        return -1;
    int failed = table->kind == COLUMNS ? load_columns(table, heap, row, &from)
                 : table->kind == LIST  ? load_list(table, heap, row, &from)
                                        : load_map(table, heap, row, &from);
    return failed ? -1 : from.left ? refuse(table) : 0;
}

/* -- records */

typedef struct {
    uint32_t number, size;
    uint64_t order; /* of a later one it is larger */
    const uint8_t *row;
} Record;

typedef struct {
    Record *items;
    uint64_t count, room;
    int ascend;
} Records;

static int add_record(Records *to, Record record)
{
    if (to->count == to->room) {
        uint64_t room = to->room ? 2 * to->room : 64;
        Record *larger = PyMem_Realloc(to->items, room * sizeof *larger);
        if (larger == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        to->items = larger;
        to->room = room;
    }
    to->ascend = to->ascend && (to->count == 0 || to->items[to->count - 1].number < record.number);
    record.order = to->count;
    to->items[to->count++] = record;
    return 0;
}

static int read_records(Records *to, const KeyedTable *table, PyObject *piece)
{
    Reader from = {(const uint8_t *)PyBytes_AS_STRING(piece), (uint64_t)PyBytes_GET_SIZE(piece)};
    while (from.left) {
        Record record = {0};
        if (take_number(&from, &record.number, sizeof record.number) || take_number(&from, &record.size, sizeof record.size) ||
            (record.row = take(&from, record.size)) == NULL)
            return refuse(table);
        if (add_record(to, record))
            return -1;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const Record *one = a, *other = b;
    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return one->order < other->order ? -1 : 1;
}

/* Whether a record is what counts of its row, and tells that it is there. */
static int counts(const Records *of, uint64_t index)
{
    const Record *record = &of->items[index];
    return record->size && (index + 1 == of->count || record[1].number != record->number);
}

/* Enters rows from an index on, until there are so many bytes: the index to go on from, -1 with an error set. */
static int64_t load_records(KeyedTable *table, uint64_t group, const Records *from, uint64_t index, uint64_t limit)
{
    for (uint64_t bytes = 0; index < from->count && bytes < limit; index++) {
        const Record *record = &from->items[index];
        if (counts(from, index) && load_row(table, group, (Reader){record->row, record->size}))
            return -1;
        bytes += record->size;
    }
    return (int64_t)index;
}

PyObject *table_load(KeyedTable *self, PyObject *args)
{
    unsigned long long group, first, limit;
    PyObject *pieces;
    if (!PyArg_ParseTuple(args, "KO!KK", &group, &PyTuple_Type, &pieces, &first, &limit) || table_owns(self, group))
        return NULL;
    Records records = {.ascend = 1};
    int failed = 0;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(pieces); i++)
        failed = read_records(&records, self, PyTuple_GET_ITEM(pieces, i));
    if (!failed && !records.ascend)
        qsort(records.items, records.count, sizeof *records.items, compare);
    vp_savepoint before = vp_writer_savepoint(self->writer);
    int64_t next = failed ? -1 : load_records(self, group, &records, first, limit);
    uint64_t count = records.count;
    PyMem_Free(records.items);
    if (next < 0) {
        table_back(self, before);
        return NULL;
    }
    return (uint64_t)next == count ? Py_NewRef(Py_None) : PyLong_FromLongLong(next);
}
