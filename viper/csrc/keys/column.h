/* A column of a key, as Arrow holds it, and what hashes its values as those of Python are hashed. */
#ifndef VIPER_COLUMN_H
#define VIPER_COLUMN_H

#include "rows/arrow.h"
#include "canonical.h"

typedef struct Column Column;

/* Reads so many values from an index on: words that are to be hashed, or hashes. The index of one that is no key,
 * or -1. What stands behind a null does not matter. */
typedef int64_t (*ReadColumn)(const Column *column, int64_t first, int count, uint64_t *words);

struct Column {
    const struct ArrowArray *array;
    const uint8_t *validity; /* a bit for each value; NULL: there are no nulls */
    const unsigned char *values;
    const unsigned char *data; /* what the offsets in `values` refer to */
    uint64_t width;            /* bytes of a binary value of fixed size */
    uint64_t factor;           /* a decimal is its digits times this, modulo 2^61 - 1 */
    ReadColumn read;
    unsigned char kind; /* of the words; 0: they are hashes */
};

enum { KNOWN_COLUMN = 0, FOREIGN_COLUMN = 1, BROKEN_COLUMN = -1 };

/* Makes ready for hashing; FOREIGN_COLUMN where the type is one that Python hashes value by value, BROKEN_COLUMN
 * where the array has not the buffers of its type. The array must live as long. */
int column_open(Column *column, const struct ArrowSchema *schema, const struct ArrowArray *array);

/* Hashes so many values, LANES at most, from an index on; the index of one that is no key, or -1. */
int64_t column_hash(const Column *column, int64_t first, int count, uint64_t *hashes);

#endif
