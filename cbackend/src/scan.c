#include "viper/scan.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Rows that are looked at together. Bands of joins let one row of some hundred pass: of most blocks the first term
 * lets none, and nothing else of them is read. */
enum { BLOCK = 64 };

/* The loops have no way out and no branch, so that compilers make vectors of them; at -O2 older ones make none. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((optimize("O3")))
#else
#define VECTORS
#endif

#define INT_SCANS(TYPE, UNSIGNED)                                                                                      \
    VECTORS static bool any_##TYPE(const TYPE *values, const vp_term *term)                                            \
    {                                                                                                                  \
        const UNSIGNED low = (UNSIGNED)term->int_low, span = (UNSIGNED)term->int_high - low;                           \
        UNSIGNED any = 0;                                                                                              \
        for (uint32_t i = 0; i < BLOCK; i++)                                                                           \
            any |= (UNSIGNED)((UNSIGNED)values[i] - low <= span);                                                      \
        return any != 0;                                                                                               \
    }                                                                                                                  \
    VECTORS static void keep_##TYPE(const TYPE *values, const vp_term *term, uint32_t count, uint8_t *kept)            \
    {                                                                                                                  \
        const UNSIGNED low = (UNSIGNED)term->int_low, span = (UNSIGNED)term->int_high - low;                           \
        for (uint32_t i = 0; i < count; i++)                                                                           \
            kept[i] &= (UNSIGNED)values[i] - low <= span;                                                              \
    }

#define FLOAT_SCANS(TYPE, BITS, ABSOLUTE)                                                                              \
    VECTORS static bool any_##TYPE(const TYPE *values, const vp_term *term)                                            \
    {                                                                                                                  \
        const TYPE low = (TYPE)term->low, high = (TYPE)term->high;                                                     \
        BITS any = 0;                                                                                                  \
        if (term->test == VP_SCAN_BAND)                                                                                \
            for (uint32_t i = 0; i < BLOCK; i++)                                                                       \
                any |= (BITS)(ABSOLUTE(values[i] - low) <= high);                                                      \
        else                                                                                                           \
            for (uint32_t i = 0; i < BLOCK; i++)                                                                       \
                any |= (BITS)(values[i] >= low) & (BITS)(values[i] <= high);                                           \
        return any != 0;                                                                                               \
    }                                                                                                                  \
    VECTORS static void keep_##TYPE(const TYPE *values, const vp_term *term, uint32_t count, uint8_t *kept)            \
    {                                                                                                                  \
        const TYPE low = (TYPE)term->low, high = (TYPE)term->high;                                                     \
        if (term->test == VP_SCAN_BAND)                                                                                \
            for (uint32_t i = 0; i < count; i++)                                                                       \
                kept[i] &= ABSOLUTE(values[i] - low) <= high;                                                          \
        else                                                                                                           \
            for (uint32_t i = 0; i < count; i++)                                                                       \
                kept[i] &= (values[i] >= low) & (values[i] <= high);                                                   \
    }

INT_SCANS(int32_t, uint32_t)
INT_SCANS(int64_t, uint64_t)
FLOAT_SCANS(float, uint32_t, fabsf)
FLOAT_SCANS(double, uint64_t, fabs)

/* Whether a term holds for any row of a whole block. */
static bool any(const vp_term *term, uint64_t first)
{
    switch (term->type) {
    case VP_SCAN_INT32:
        return any_int32_t((const int32_t *)term->values + first, term);
    case VP_SCAN_INT64:
        return any_int64_t((const int64_t *)term->values + first, term);
    case VP_SCAN_FLOAT32:
        return any_float((const float *)term->values + first, term);
    default:
        return any_double((const double *)term->values + first, term);
    }
}

static void keep(const vp_term *term, uint64_t first, uint32_t count, uint8_t *kept)
{
    switch (term->type) {
    case VP_SCAN_INT32:
        keep_int32_t((const int32_t *)term->values + first, term, count, kept);
        break;
    case VP_SCAN_INT64:
        keep_int64_t((const int64_t *)term->values + first, term, count, kept);
        break;
    case VP_SCAN_FLOAT32:
        keep_float((const float *)term->values + first, term, count, kept);
        break;
    default:
        keep_double((const double *)term->values + first, term, count, kept);
    }
}

/* Whether a term holds for no value at all; the subtraction that tests a range would take it for another one. */
static bool is_empty(const vp_term *term)
{
    return term->type <= VP_SCAN_INT64 && term->int_low > term->int_high;
}

uint64_t vp_scan(const vp_term *terms, uint32_t count, uint64_t first, uint64_t end, uint32_t *found)
{
    uint8_t kept[BLOCK];
    uint64_t held = 0;
    for (uint32_t term = 0; term < count; term++)
        if (is_empty(&terms[term]))
            return 0;
    for (uint64_t at = first; at < end; at += BLOCK) {
        const uint32_t rows = end - at < BLOCK ? (uint32_t)(end - at) : BLOCK;
        if (count && rows == BLOCK && !any(&terms[0], at))
            continue;
        memset(kept, 1, rows);
        for (uint32_t term = 0; term < count; term++)
            keep(&terms[term], at, rows, kept);
        for (uint32_t row = 0; row < rows; row++)
            if (kept[row])
                found[held++] = (uint32_t)(at + row);
    }
    return held;
}
