/* Scans of columns: which of many stored rows a join's conditions hold for, beside one that has just come.
 *
 * A term is what one condition asks of one column once the values of the incoming row are known. It is decided in the
 * column's own type: floats of 32 bits are not widened, as that would decide some rows differently.
 */
#ifndef VIPER_SCAN_H
#define VIPER_SCAN_H

#include <stdint.h>

enum { VP_SCAN_INT32, VP_SCAN_INT64, VP_SCAN_FLOAT32, VP_SCAN_FLOAT64 };
enum {
    VP_SCAN_RANGE, /* low <= value && value <= high */
    VP_SCAN_BAND   /* |value - low| <= high, of floats */
};

typedef struct {
    const void *values; /* of the first row; aligned as its type is */
    uint32_t type, test;
    int64_t int_low, int_high; /* of integers; within the type, unless no value is between them */
    double low, high;          /* of floats; of 32 bits they are such numbers exactly */
} vp_term;

/* Writes the indexes, ascending, of the rows of [first, end) for which all terms hold, and returns how many. `found`
 * has room for all of them. */
uint64_t vp_scan(const vp_term *terms, uint32_t count, uint64_t first, uint64_t end, uint32_t *found);

#endif
