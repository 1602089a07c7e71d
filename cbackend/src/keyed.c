/* Rows are entered behind all others. Words of rows that have no number yet are written without a note in the log, as a
 * slice that goes back takes the number away. */
#include "keyed.h"

enum { LAST_BITS = 32 };

uint64_t vp_keyed_size(void)
{
    return sizeof(vp_keyed);
}

vp_keyed *vp_keyed_format(void *arena, uint64_t offset, uint32_t value_words)
{
    if (value_words > VP_KEYED_WORDS)
        return NULL;
    vp_keyed *table = (vp_keyed *)((char *)arena + offset);
    *table = (vp_keyed){.value_words = value_words, .row_bits = VP_FIRST_ROW_BITS};
    return table;
}

uint64_t vp_keyed_new(vp_writer *writer, vp_heap *heap, uint32_t value_words)
{
    uint64_t cell = vp_heap_take(writer, heap, sizeof(vp_keyed));
    if (cell)
        *(vp_keyed *)(writer->arena + cell) = (vp_keyed){.value_words = value_words, .row_bits = VP_FEW_ROW_BITS};
    return cell;
}

uint64_t vp_keyed_count(const vp_keyed *table)
{
    return vp_read(&table->live);
}

uint64_t vp_keyed_accesses(const vp_keyed *table)
{
    return vp_read(&table->accesses);
}

/* -- rows */

static uint64_t row_bytes(const vp_keyed *table)
{
    return sizeof(vp_row) + table->value_words * sizeof(vp_word);
}

static uint32_t part_of(const vp_keyed *table, uint64_t number)
{
    return 63 - (uint32_t)__builtin_clzll((number >> table->row_bits) + 1);
}

static uint64_t rows_of(const vp_keyed *table, uint32_t part)
{
    return UINT64_C(1) << (table->row_bits + part);
}

/* The number of a part's first row. */
static uint64_t first_of(const vp_keyed *table, uint32_t part)
{
    return rows_of(table, part) - rows_of(table, 0);
}

static uint64_t part_bytes(const vp_keyed *table, uint32_t part)
{
    return rows_of(table, part) * row_bytes(table);
}

static char *place_in(const vp_writer *writer, const vp_keyed *table, uint64_t number, uint64_t part, uint64_t part_at)
{
    return writer->arena + part_at + (number - first_of(table, (uint32_t)part)) * row_bytes(table);
}

static vp_row *row_at(const vp_writer *writer, const vp_keyed *table, uint64_t number)
{
    uint32_t part = part_of(table, number);
    return (vp_row *)place_in(writer, table, number, part, vp_read(&table->parts[part]));
}

vp_row *vp_keyed_row(const vp_writer *writer, const vp_keyed *table, uint64_t number)
{
    return row_at(writer, table, number);
}

uint64_t vp_keyed_rows(const vp_keyed *table)
{
    return vp_read(&table->rows);
}

vp_row *vp_keyed_next(const vp_writer *writer, const vp_keyed *table, uint64_t *number)
{
    for (uint64_t rows = vp_read(&table->rows); *number < rows; ++*number) {
        vp_row *row = row_at(writer, table, *number);
        if (vp_row_is_alive(row))
            return row;
    }
    return NULL;
}

const uint8_t *vp_row_key(const vp_writer *writer, const vp_row *row, uint64_t *length)
{
    return vp_bytes_get(writer, &row->key, length);
}

uint64_t vp_row_hash(const vp_row *row)
{
    return vp_read(&row->tag) & ~(uint64_t)UINT32_MAX;
}

uint64_t vp_row_number(const vp_row *row)
{
    return vp_number_of(row);
}

uint64_t *vp_row_values(vp_row *row)
{
    return (uint64_t *)row->values;
}

/* -- the index */

static vp_word *index_of(const vp_writer *writer, const vp_keyed *table)
{
    return (vp_word *)(writer->arena + vp_read(&table->index));
}

static uint64_t index_size(const vp_keyed *table)
{
    return vp_read(&table->index) ? UINT64_C(1) << vp_read(&table->index_bits) : 0;
}

/* What a search compares: bytes that fit into two words by these, others by their length and by themselves. */
typedef struct {
    uint64_t words[2];
    const void *data;
    uint64_t length;
} sought;

static sought seek(const void *data, uint64_t length)
{
    sought key = {{0, UINT64_C(255) << 56 | length}, data, length};
    if (length <= VP_BYTES_INLINE)
        vp_bytes_pack(key.words, data, length);
    return key;
}

static bool has_key(const vp_writer *writer, const vp_row *row, const sought *key)
{
    uint64_t first = vp_read(&row->key.words[0]);
    bool is_inline = key->length <= VP_BYTES_INLINE;
    return vp_read(&row->key.words[1]) == key->words[1] &&
           (is_inline ? first == key->words[0] : !memcmp(writer->arena + first, key->data, key->length));
}

/* The place of a key, or the free one at which the search for it ends. */
static vp_word *place_of(const vp_writer *writer, const vp_keyed *table, uint64_t hash, const sought *key)
{
    vp_word *index = index_of(writer, table);
    uint64_t mask = index_size(table) - 1;
    for (uint64_t at = hash >> 32 & mask;; at = (at + 1) & mask) {
        uint64_t place = vp_read(&index[at]);
        if (!place)
            return &index[at];
        if ((place ^ hash) >> 32 == 0 && (uint32_t)place != VP_PLACE_LEFT &&
            has_key(writer, row_at(writer, table, (uint32_t)place - 1), key))
            return &index[at];
    }
}

vp_row *vp_keyed_find(const vp_writer *writer, const vp_keyed *table, uint64_t hash, const void *key, uint64_t length)
{
    if (!vp_read(&table->index))
        return NULL;
    sought it = seek(key, length);
    uint64_t place = vp_read(place_of(writer, table, hash, &it));
    return place ? row_at(writer, table, (uint32_t)place - 1) : NULL;
}

void vp_keyed_fetch_place(const vp_writer *writer, const vp_keyed *table, uint64_t hash)
{
    uint64_t size = index_size(table);
    if (size)
        __builtin_prefetch(&index_of(writer, table)[hash >> 32 & (size - 1)]);
}

uint64_t vp_keyed_fetch_row(const vp_writer *writer, const vp_keyed *table, uint64_t hash)
{
    uint64_t size = index_size(table);
    uint64_t place = size ? vp_read(&index_of(writer, table)[hash >> 32 & (size - 1)]) : 0;
    if (!place || (place ^ hash) >> 32 || (uint32_t)place == VP_PLACE_LEFT)
        return VP_NO_ROW;
    vp_keyed_fetch(writer, table, (uint32_t)place - 1);
    return (uint32_t)place - 1;
}

void vp_keyed_fetch(const vp_writer *writer, const vp_keyed *table, uint64_t number)
{
    const char *row = (const char *)row_at(writer, table, number);
    __builtin_prefetch(row, 1);
    __builtin_prefetch(row + row_bytes(table) - 1, 1); /* most rows lie in one line or in two */
}

static void put(vp_word *index, uint64_t mask, uint64_t place)
{
    uint64_t at = place >> 32 & mask;
    while (vp_read(&index[at]))
        at = (at + 1) & mask;
    atomic_store_explicit(&index[at], place, memory_order_relaxed);
}

/* Puts an index in the place of the one before: 0, or VP_NO_ROOM. */
static int replace_index(vp_writer *writer, vp_keyed *table, vp_heap *heap, uint64_t index, uint64_t bits, uint64_t used)
{
    uint64_t before = vp_read(&table->index), size = index_size(table) * sizeof(vp_word);
    if ((before && vp_heap_free(writer, heap, before, size)) || vp_writer_reserve(writer, 3))
        return VP_NO_ROOM;
    vp_write(writer, &table->index, index);
    vp_write(writer, &table->index_bits, bits);
    vp_write(writer, &table->used, used);
    return 0;
}

static uint64_t new_index(vp_writer *writer, vp_heap *heap, uint64_t bits)
{
    uint64_t size = (UINT64_C(1) << bits) * sizeof(vp_word), index = vp_heap_take(writer, heap, size);
    if (index)
        memset(writer->arena + index, 0, size);
    return index;
}

/* Makes an index of which at most half is used. */
static int grow_index(vp_writer *writer, vp_keyed *table, vp_heap *heap)
{
    uint64_t bits = table->row_bits, live = vp_read(&table->live), size = index_size(table);
    while (bits < LAST_BITS && (UINT64_C(1) << bits) < 2 * live)
        bits++;
    uint64_t index = new_index(writer, heap, bits);
    if (!index)
        return VP_NO_ROOM;
    vp_word *to = (vp_word *)(writer->arena + index);
    const vp_word *from = index_of(writer, table);
    for (uint64_t at = 0; at < size; at++) {
        uint64_t place = vp_read(&from[at]);
        if (place && (uint32_t)place != VP_PLACE_LEFT)
            put(to, (UINT64_C(1) << bits) - 1, place);
    }
    return replace_index(writer, table, heap, index, bits, live);
}

/* -- compaction: rows that have left go when the numbers would need another part */

/* Takes parts for so many rows, and notes their offsets. */
static int take_parts(vp_writer *writer, const vp_keyed *table, vp_heap *heap, uint64_t rows, uint64_t *parts)
{
    for (uint32_t part = 0; part == 0 || first_of(table, part) < rows; part++) {
        parts[part] = vp_heap_take(writer, heap, part_bytes(table, part));
        if (!parts[part])
            return VP_NO_ROOM;
    }
    return 0;
}

static int replace_parts(vp_writer *writer, vp_keyed *table, vp_heap *heap, const uint64_t *parts, uint64_t rows)
{
    for (uint32_t part = 0; part < VP_ROW_PARTS; part++) {
        uint64_t before = vp_read(&table->parts[part]);
        if ((before && vp_heap_free(writer, heap, before, part_bytes(table, part))) || vp_writer_reserve(writer, 1))
            return VP_NO_ROOM;
        if (before != parts[part])
            vp_write(writer, &table->parts[part], parts[part]);
    }
    if (vp_writer_reserve(writer, 1))
        return VP_NO_ROOM;
    vp_write(writer, &table->rows, rows);
    return 0;
}

static int compact(vp_writer *writer, vp_keyed *table, vp_heap *heap)
{
    uint64_t live = vp_read(&table->live), bits = vp_read(&table->index_bits), copied = 0;
    uint64_t parts[VP_ROW_PARTS] = {0}, index = new_index(writer, heap, bits);
    if (!index || take_parts(writer, table, heap, live + 1, parts))
        return VP_NO_ROOM;
    for (uint64_t number = 0; vp_keyed_next(writer, table, &number); number++, copied++) {
        const vp_row *row = row_at(writer, table, number);
        uint32_t part = part_of(table, copied);
        vp_row *copy = (vp_row *)place_in(writer, table, copied, part, parts[part]);
        memcpy(copy, row, row_bytes(table));
        atomic_store_explicit(&copy->tag, vp_row_tag(vp_row_hash(row), copied), memory_order_relaxed);
        put((vp_word *)(writer->arena + index), (UINT64_C(1) << bits) - 1, vp_place(vp_row_hash(row), copied));
    }
    if (replace_parts(writer, table, heap, parts, live))
        return VP_NO_ROOM;
    return replace_index(writer, table, heap, index, bits, live);
}

/* -- entering and leaving */

static bool has_part(const vp_keyed *table, uint32_t part)
{
    return part < VP_ROW_PARTS && vp_read(&table->parts[part]);
}

/* Whether more than half of the numbers are those of rows that have left. */
static bool is_sparse(const vp_keyed *table)
{
    uint64_t rows = vp_read(&table->rows);
    return rows - vp_read(&table->live) > rows / 2;
}

bool vp_keyed_would_move(const vp_keyed *table)
{
    return !has_part(table, part_of(table, vp_read(&table->rows))) && is_sparse(table);
}

/* Makes sure of a place in the index and of a number for one more row. */
static int make_room(vp_writer *writer, vp_keyed *table, vp_heap *heap, bool *moved)
{
    uint64_t rows = vp_read(&table->rows);
    if (4 * (vp_read(&table->used) + 1) > 3 * index_size(table) && grow_index(writer, table, heap))
        return VP_NO_ROOM;
    uint32_t part = part_of(table, rows);
    if (has_part(table, part))
        return 0;
    if (is_sparse(table)) {
        *moved = true;
        return compact(writer, table, heap);
    }
    uint64_t cell = part < VP_ROW_PARTS ? vp_heap_take(writer, heap, part_bytes(table, part)) : 0;
    if (!cell || vp_writer_reserve(writer, 1))
        return VP_NO_ROOM;
    vp_write(writer, &table->parts[part], cell);
    return 0;
}

/* Writes a row that has no number yet. */
static int fill(vp_writer *writer, const vp_keyed *table, vp_heap *heap, vp_row *row, uint64_t tag, const sought *key)
{
    uint64_t first = key->words[0];
    if (key->length > VP_BYTES_INLINE) {
        first = vp_heap_take(writer, heap, key->length);
        if (!first)
            return VP_NO_ROOM;
        memcpy(writer->arena + first, key->data, key->length);
    }
    atomic_store_explicit(&row->tag, tag, memory_order_relaxed);
    atomic_store_explicit(&row->key.words[0], first, memory_order_relaxed);
    atomic_store_explicit(&row->key.words[1], key->words[1], memory_order_relaxed);
    for (uint64_t i = 0; i < table->value_words; i++)
        atomic_store_explicit(&row->values[i], 0, memory_order_relaxed);
    return 0;
}

vp_row *vp_keyed_enter(vp_writer *writer, vp_keyed *table, vp_heap *heap, uint64_t hash, const void *key,
                       uint64_t length, bool *moved)
{
    sought it = seek(key, length);
    vp_word *place = vp_read(&table->index) ? place_of(writer, table, hash, &it) : NULL;
    *moved = false;
    if (place && vp_read(place))
        return row_at(writer, table, (uint32_t)vp_read(place) - 1);
    if (length > VP_BYTES_LENGTH || make_room(writer, table, heap, moved))
        return NULL;
    uint64_t number = vp_read(&table->rows);
    vp_row *row = row_at(writer, table, number);
    if (fill(writer, table, heap, row, vp_row_tag(hash, number), &it) || vp_writer_reserve(writer, 4))
        return NULL;
    vp_write(writer, place_of(writer, table, hash, &it), vp_place(hash, number));
    vp_write(writer, &table->used, vp_read(&table->used) + 1);
    vp_write(writer, &table->rows, number + 1);
    vp_write(writer, &table->live, vp_read(&table->live) + 1);
    return row;
}

int vp_keyed_drop(vp_writer *writer, vp_keyed *table, vp_heap *heap, vp_row *row)
{
    uint64_t length;
    const uint8_t *data = vp_row_key(writer, row, &length);
    sought key = seek(data, length);
    vp_word *place = place_of(writer, table, vp_read(&row->tag), &key);
    if (vp_bytes_free(writer, heap, &row->key) || vp_writer_reserve(writer, 3))
        return VP_NO_ROOM;
    vp_write(writer, place, (vp_read(place) & ~(uint64_t)UINT32_MAX) | VP_PLACE_LEFT);
    vp_write(writer, &row->tag, vp_read(&row->tag) & ~VP_ROW_ALIVE);
    vp_write(writer, &table->live, vp_read(&table->live) - 1);
    return 0;
}

int vp_keyed_free(vp_writer *writer, vp_keyed *table, vp_heap *heap)
{
    vp_row *row;
    for (uint64_t number = 0; (row = vp_keyed_next(writer, table, &number)); number++)
        if (vp_bytes_free(writer, heap, &row->key))
            return VP_NO_ROOM;
    for (uint32_t part = 0; part < VP_ROW_PARTS && vp_read(&table->parts[part]); part++)
        if (vp_heap_free(writer, heap, vp_read(&table->parts[part]), part_bytes(table, part)))
            return VP_NO_ROOM;
    uint64_t index = vp_read(&table->index), size = index_size(table) * sizeof(vp_word);
    if (index && vp_heap_free(writer, heap, index, size))
        return VP_NO_ROOM;
    return vp_heap_free(writer, heap, (uint64_t)((char *)table - writer->arena), sizeof *table);
}
