/* How a shared table lies in its region, and its rows. See viper/shared.h.
 *
 *     | vp_shared | index ... | states ... | rows ... | keys of more than eight bytes ... |
 *     row: | header | key | columns ... |
 *
 * A row's header is present (bit 0), its generation, and in the upper 24 bits the length of its key. Small rows are
 * as long as a power of two and others as whole lines, so that a row takes no more lines than it must.
 */
#ifndef VIPER_SRC_SHARED_H
#define VIPER_SRC_SHARED_H

#include "layout.h"
#include "viper/shared.h"

typedef _Atomic uint64_t vp_word;

enum { VP_SHARED_SPARES = 8 };

struct vp_shared {
    uint64_t at; /* bytes from the arena's start */
    uint64_t rows_at, stride, columns; /* bytes from the table's start to its rows, and from row to row */
    uint64_t has_defaults;
    uint64_t keys_most, numbers; /* how many keys, and how many rows for them: some go to waste */
    uint64_t index_at, index_bits, states_at, heap_at, heap_bytes;
    alignas(VP_LINE) vp_word next; /* numbers that were given out; more where there were none left */
    vp_word keys;                  /* that were entered */
    vp_word heap_used;
    vp_word spares[VP_SHARED_SPARES]; /* numbers, and 1, of rows whose key another one had entered; 0: none */
    int64_t defaults[VP_SHARED_COLUMNS];
};

enum { VP_ROW_HEADER = 0, VP_ROW_KEY = 1, VP_ROW_COLUMNS = 2 };

#define VP_ROW_PRESENT UINT64_C(1)
#define VP_ROW_GENERATION UINT64_C(2) /* one of them */
#define VP_ROW_LENGTH_SHIFT 40
#define VP_ROW_LENGTHS (UINT64_MAX << VP_ROW_LENGTH_SHIFT)

static inline vp_word *vp_shared_row(const vp_shared *table, uint64_t row)
{
    return (vp_word *)((char *)table + table->rows_at + row * table->stride);
}

/* Relaxed: whoever may change it has the lease, and others look at lengths only, which stay. */
static inline uint64_t vp_row_word(const vp_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline uint64_t vp_header_generation(uint64_t header)
{
    return (header & ~VP_ROW_LENGTHS) / VP_ROW_GENERATION;
}

/* A header with the next generation, which is that of no element. */
static inline uint64_t vp_header_turned(uint64_t header)
{
    return (header & VP_ROW_LENGTHS) | ((header + VP_ROW_GENERATION) & ~VP_ROW_LENGTHS);
}

#endif
