/* Rows are entered by any process, without a lock.
 *
 * Index.  A place is 0 or, for good, the upper half of a hash above the number of a row and 1. Who finds the first free
 *         place on the way from a hash takes a row, writes the key there, and swaps the place (S0). Who finds the place
 *         (S1) sees the key. All who enter one key go the same way and stop at the same place, so one of them gets it;
 *         the others find it there then, and leave their rows to whoever enters next.
 * Death.  Between taking a number and the place, it leaves a number that stays without a key. `states` tells those in
 *         use, but is written behind the place; so the index has the last word.
 * Room.   Some more rows than keys, and more bytes than these have, for those that go to waste. A row that comes too late
 *         keeps its bytes for the next key.
 */
#include "shared.h"

#include <string.h>

#include "crash.h"

enum { WASTE = 64, WORD = sizeof(uint64_t), LONGEST_KEY = (1 << 24) - 1, LINE = 64 };
enum { TAKEN = 0, IN_USE = 1, SPARE = 2 };

static const uint64_t MOST_ROWS = UINT64_C(1) << 31;

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static uint64_t stride_of(uint32_t columns)
{
    uint64_t bytes = (VP_ROW_COLUMNS + columns) * WORD;
    return bytes > LINE ? round_up(bytes, LINE) : bytes > LINE / 2 ? LINE : LINE / 2;
}

/* All that the shape tells; the size is where another part would begin. */
static vp_shared shape_of(uint64_t rows, uint32_t columns, uint64_t key_bytes, uint64_t *size)
{
    vp_shared shape = {.columns = columns, .keys_most = rows, .stride = stride_of(columns)};
    shape.numbers = rows + rows / 64 + WASTE;
    while (UINT64_C(1) << shape.index_bits < 2 * shape.numbers)
        shape.index_bits++;
    shape.heap_bytes = key_bytes ? 2 * key_bytes + (rows + WASTE) * WORD : 0;
    shape.index_at = round_up(sizeof shape, VP_LINE);
    shape.states_at = shape.index_at + (WORD << shape.index_bits);
    shape.rows_at = round_up(shape.states_at + shape.numbers, VP_LINE);
    shape.heap_at = shape.rows_at + shape.numbers * shape.stride;
    *size = round_up(shape.heap_at + shape.heap_bytes, VP_LINE);
    return shape;
}

uint64_t vp_shared_size(uint64_t rows, uint32_t columns, uint64_t key_bytes)
{
    if (!rows || rows > MOST_ROWS || columns > VP_SHARED_COLUMNS || key_bytes >> 48)
        return 0;
    uint64_t size;
    shape_of(rows, columns, key_bytes, &size);
    return size;
}

vp_shared *vp_shared_format(void *arena, uint64_t offset, uint64_t rows, uint32_t columns, uint64_t key_bytes,
                            const int64_t *defaults)
{
    if (!vp_shared_size(rows, columns, key_bytes))
        return NULL;
    uint64_t size;
    vp_shared *table = vp_shared_at(arena, offset);
    *table = shape_of(rows, columns, key_bytes, &size);
    table->at = offset;
    table->has_defaults = defaults != NULL;
    if (defaults)
        memcpy(table->defaults, defaults, columns * sizeof *defaults);
    return table;
}

vp_shared *vp_shared_at(void *arena, uint64_t offset)
{
    return (vp_shared *)((char *)arena + offset);
}

/* -- keys */

static vp_word *index_of(const vp_shared *table)
{
    return (vp_word *)((char *)table + table->index_at);
}

static _Atomic uint8_t *state_of(const vp_shared *table, uint64_t row)
{
    return (_Atomic uint8_t *)((char *)table + table->states_at) + row;
}

static uint64_t mask_of(const vp_shared *table)
{
    return (UINT64_C(1) << table->index_bits) - 1;
}

/* Where the way of a hash begins: its halves need not be good both. */
static uint64_t first_place(const vp_shared *table, uint64_t hash)
{
    return (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - table->index_bits);
}

static const uint8_t *key_of(const vp_shared *table, const vp_word *row, uint64_t *length)
{
    *length = vp_row_word(&row[VP_ROW_HEADER]) >> VP_ROW_LENGTH_SHIFT;
    if (*length <= WORD)
        return (const uint8_t *)&row[VP_ROW_KEY];
    return (const uint8_t *)table + table->heap_at + vp_row_word(&row[VP_ROW_KEY]);
}

static bool has_key(const vp_shared *table, uint64_t place, uint64_t hash, const void *key, uint64_t length)
{
    if ((place ^ hash) >> 32)
        return false;
    uint64_t found;
    const uint8_t *bytes = key_of(table, vp_shared_row(table, (uint32_t)place - 1), &found);
    return found == length && memcmp(bytes, key, length) == 0;
}

/* -- rows to enter keys in */

static int64_t take_spare(vp_shared *table)
{
    for (uint32_t i = 0; i < VP_SHARED_SPARES; i++) {
        /* Relaxed: a look whether it is worth the exchange. */
        if (!atomic_load_explicit(&table->spares[i], memory_order_relaxed))
            continue;
        uint64_t spare = atomic_exchange_explicit(&table->spares[i], 0, memory_order_acquire); /* S3 <- S2 */
        if (spare) {
            atomic_store_explicit(state_of(table, spare - 1), TAKEN, memory_order_relaxed);
            return (int64_t)spare - 1;
        }
    }
    return VP_SHARED_NONE;
}

static void leave_spare(vp_shared *table, uint64_t row)
{
    atomic_store_explicit(state_of(table, row), SPARE, memory_order_relaxed);
    for (uint32_t i = 0; i < VP_SHARED_SPARES; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong_explicit(&table->spares[i], &none, row + 1, memory_order_release, /* S2 -> S3 */
                                                    memory_order_relaxed))
            return;
    }
}

static int64_t take_number(vp_shared *table)
{
    /* Relaxed: a count; looked at first, so that it cannot come round. */
    if (atomic_load_explicit(&table->next, memory_order_relaxed) >= table->numbers)
        return VP_SHARED_FULL;
    uint64_t number = atomic_fetch_add_explicit(&table->next, 1, memory_order_relaxed);
    return number < table->numbers ? (int64_t)number : VP_SHARED_FULL;
}

/* Where so many bytes go, from the keys' start on. */
static int64_t take_bytes(vp_shared *table, uint64_t length)
{
    uint64_t bytes = round_up(length, WORD);
    if (atomic_load_explicit(&table->heap_used, memory_order_relaxed) + bytes > table->heap_bytes)
        return VP_SHARED_FULL;
    uint64_t at = atomic_fetch_add_explicit(&table->heap_used, bytes, memory_order_relaxed);
    return at + bytes <= table->heap_bytes ? (int64_t)at : VP_SHARED_FULL;
}

/* Where a key goes: where that of the row was before, if it fits there. */
static int64_t place_for(vp_shared *table, const vp_word *row, uint64_t length)
{
    uint64_t before = vp_row_word(&row[VP_ROW_HEADER]) >> VP_ROW_LENGTH_SHIFT;
    bool fits = before > WORD && length <= round_up(before, WORD);
    return fits ? (int64_t)vp_row_word(&row[VP_ROW_KEY]) : take_bytes(table, length);
}

/* The key's word: its bytes, or where they were copied to. */
static bool write_key(vp_shared *table, vp_word *row, const void *key, uint64_t length)
{
    uint64_t word = 0;
    if (length <= WORD) {
        memcpy(&word, key, length);
    } else {
        int64_t at = place_for(table, row, length);
        if (at < 0)
            return false;
        memcpy((char *)table + table->heap_at + at, key, length);
        word = (uint64_t)at;
    }
    atomic_store_explicit(&row[VP_ROW_KEY], word, memory_order_relaxed);
    atomic_store_explicit(&row[VP_ROW_HEADER], length << VP_ROW_LENGTH_SHIFT, memory_order_relaxed);
    return true;
}

/* A row with the key in it, which the index does not have. */
static int64_t take_row(vp_shared *table, const void *key, uint64_t length)
{
    /* Relaxed: a count. Those who enter at once may pass the bound together; there are rows for some. */
    if (length > LONGEST_KEY || atomic_load_explicit(&table->keys, memory_order_relaxed) >= table->keys_most)
        return VP_SHARED_FULL;
    int64_t row = take_spare(table);
    if (row < 0)
        row = take_number(table);
    if (row < 0)
        return row;
    VP_CRASH_POINT("shared: taken");
    if (write_key(table, vp_shared_row(table, (uint64_t)row), key, length))
        return row;
    leave_spare(table, (uint64_t)row);
    return VP_SHARED_FULL;
}

/* -- entering and finding */

int64_t vp_shared_find(const vp_shared *table, uint64_t hash, const void *key, uint64_t length)
{
    const vp_word *index = index_of(table);
    for (uint64_t at = first_place(table, hash);; at = (at + 1) & mask_of(table)) {
        uint64_t place = atomic_load_explicit(&index[at], memory_order_acquire); /* S1 <- S0 */
        if (!place)
            return VP_SHARED_NONE;
        if (has_key(table, place, hash, key, length))
            return (uint32_t)place - 1;
    }
}

/* Without room for a key: whoever took the last may have entered this one. */
static int64_t find_or_full(const vp_shared *table, uint64_t hash, const void *key, uint64_t length)
{
    int64_t row = vp_shared_find(table, hash, key, length);
    return row >= 0 ? row : VP_SHARED_FULL;
}

static void tell_use(vp_shared *table, uint64_t row)
{
    VP_CRASH_POINT("shared: entered");
    atomic_store_explicit(state_of(table, row), IN_USE, memory_order_release); /* S0 -> S1 */
    atomic_fetch_add_explicit(&table->keys, 1, memory_order_relaxed);
}

int64_t vp_shared_enter(vp_shared *table, uint64_t hash, const void *key, uint64_t length)
{
    vp_word *index = index_of(table);
    int64_t mine = VP_SHARED_NONE;
    for (uint64_t at = first_place(table, hash);; at = (at + 1) & mask_of(table)) {
        uint64_t place = atomic_load_explicit(&index[at], memory_order_acquire); /* S1 <- S0 */
        if (!place) {
            if (mine < 0 && (mine = take_row(table, key, length)) < 0)
                return find_or_full(table, hash, key, length);
            uint64_t entry = (hash & ~(uint64_t)UINT32_MAX) | ((uint64_t)mine + 1);
            VP_CRASH_POINT("shared: written");
            if (atomic_compare_exchange_strong_explicit(&index[at], &place, entry, memory_order_release, /* S0 -> S1 */
                                                        memory_order_acquire)) {                         /* S1 <- S0 */
                tell_use(table, (uint64_t)mine);
                return mine;
            }
        }
        if (has_key(table, place, hash, key, length)) {
            if (mine >= 0)
                leave_spare(table, (uint64_t)mine);
            return (uint32_t)place - 1;
        }
    }
}

uint64_t vp_shared_entered(const vp_shared *table)
{
    uint64_t next = atomic_load_explicit(&table->next, memory_order_acquire);
    return next < table->numbers ? next : table->numbers;
}

uint64_t vp_shared_capacity(const vp_shared *table)
{
    return table->numbers;
}

/* Only where a number was taken, and nothing was told of it any more. */
static bool is_in_index(const vp_shared *table, uint64_t row)
{
    const vp_word *index = index_of(table);
    for (uint64_t at = 0; at <= mask_of(table); at++)
        if ((uint32_t)atomic_load_explicit(&index[at], memory_order_acquire) == row + 1) /* S1 <- S0 */
            return true;
    return false;
}

const uint8_t *vp_shared_key(const vp_shared *table, uint64_t row, uint64_t *length)
{
    if (row >= vp_shared_entered(table))
        return NULL;
    uint8_t state = atomic_load_explicit(state_of(table, row), memory_order_acquire); /* S1 <- S0 */
    if (state == SPARE || (state == TAKEN && !is_in_index(table, row)))
        return NULL;
    return key_of(table, vp_shared_row(table, row), length);
}

/* -- copies */

static void copy_words(void *to, const void *from, uint64_t bytes)
{
    vp_word *target = to;
    const vp_word *source = from;
    for (uint64_t i = 0; i < bytes / WORD; i++)
        if (vp_row_word(&source[i])) /* pages that are not touched take no memory there either */
            atomic_store_explicit(&target[i], vp_row_word(&source[i]), memory_order_relaxed);
}

vp_shared *vp_shared_copy(void *arena, uint64_t offset, const vp_shared *from)
{
    vp_shared *to = vp_shared_at(arena, offset);
    copy_words(to, from, sizeof *to);
    to->at = offset;
    const uint64_t rows = vp_shared_entered(to), heap = vp_row_word(&to->heap_used);
    for (uint64_t row = 0; row < rows; row++) /* before the index, which has none of later ones but absent ones */
        atomic_store_explicit(state_of(to, row), atomic_load_explicit(state_of(from, row), memory_order_acquire),
                              memory_order_relaxed);
    copy_words(index_of(to), index_of(from), WORD << from->index_bits);
    copy_words(vp_shared_row(to, 0), vp_shared_row(from, 0), rows * from->stride);
    memcpy((char *)to + to->heap_at, (const char *)from + from->heap_at, heap < from->heap_bytes ? heap : from->heap_bytes);
    return to;
}

/* -- what rows hold */

uint64_t vp_shared_word(const vp_shared *table, uint64_t row)
{
    return (table->at + table->rows_at + row * table->stride) / WORD;
}

bool vp_shared_is_present(const vp_shared *table, uint64_t row)
{
    return vp_row_word(&vp_shared_row(table, row)[VP_ROW_HEADER]) & VP_ROW_PRESENT;
}

int64_t vp_shared_get(const vp_shared *table, uint64_t row, uint32_t column)
{
    return (int64_t)vp_row_word(&vp_shared_row(table, row)[VP_ROW_COLUMNS + column]);
}

uint64_t vp_shared_generation(const vp_shared *table, uint64_t row)
{
    return vp_header_generation(vp_row_word(&vp_shared_row(table, row)[VP_ROW_HEADER]));
}

void vp_shared_put(vp_shared *table, uint64_t row, const int64_t *words)
{
    vp_word *cells = vp_shared_row(table, row);
    for (uint64_t column = 0; column < table->columns; column++)
        atomic_store_explicit(&cells[VP_ROW_COLUMNS + column], (uint64_t)words[column], memory_order_relaxed);
    atomic_fetch_or_explicit(&cells[VP_ROW_HEADER], VP_ROW_PRESENT, memory_order_relaxed);
}
