/* The values of Arrow columns, each type in a loop of its own. */
#include "column.h"

#include <stdlib.h>

#include "lanes.h"

/* Whether the value at an index, counted from the array's offset, is null. */
static inline int is_null(const Column *column, int64_t index)
{
    if (column->validity == NULL)
        return 0;
    index += column->array->offset;
    return !(column->validity[index / 8] >> index % 8 & 1);
}

static int64_t read_nulls(const Column *column, int64_t first, int count, uint64_t *hashes)
{
    (void)column, (void)first;
    for (int i = 0; i < count; i++)
        hashes[i] = hash_of_none();
    return -1;
}

static int64_t read_bools(const Column *column, int64_t first, int count, uint64_t *words)
{
    for (int i = 0; i < count; i++) {
        int64_t bit = column->array->offset + first + i;
        words[i] = column->values[bit / 8] >> bit % 8 & 1;
    }
    return -1;
}

/* The first of so many values of fixed size. */
static inline const unsigned char *values_at(const Column *column, int64_t first, size_t size)
{
    return column->values + (size_t)(column->array->offset + first) * size;
}

/* Buffers need not be aligned, so values are copied out of them, which costs nothing. */
#define READ_FIXED(name, type, word)                                                                       \
    IN_VECTORS static int64_t name(const Column *column, int64_t first, int count, uint64_t *words)        \
    {                                                                                                      \
        const unsigned char *at = values_at(column, first, sizeof(type));                                  \
        for (int i = 0; i < count; i++) {                                                                  \
            type value;                                                                                    \
            memcpy(&value, at + (size_t)i * sizeof value, sizeof value);                                   \
            words[i] = word;                                                                               \
        }                                                                                                  \
        return -1;                                                                                         \
    }

READ_FIXED(read_int8, int8_t, word_of_residue(value))
READ_FIXED(read_int16, int16_t, word_of_residue(value))
READ_FIXED(read_int32, int32_t, word_of_residue(value))
READ_FIXED(read_int64, int64_t, word_of_residue(residue_of_signed(value)))
READ_FIXED(read_uint8, uint8_t, value)
READ_FIXED(read_uint16, uint16_t, value)
READ_FIXED(read_uint32, uint32_t, value)
READ_FIXED(read_uint64, uint64_t, word_of_residue(residue_of_unsigned(value)))
READ_FIXED(read_days, int32_t, (uint64_t)(int64_t)value)

/* Looks for NaN behind the loop, in which a return would keep it from vectors. */
#define READ_FLOATS(name, type)                                                                            \
    IN_VECTORS static int64_t name(const Column *column, int64_t first, int count, uint64_t *words)        \
    {                                                                                                      \
        const unsigned char *at = values_at(column, first, sizeof(type));                                  \
        type value;                                                                                        \
        int64_t any_nan = 0;                                                                               \
        for (int i = 0; i < count; i++) {                                                                  \
            memcpy(&value, at + (size_t)i * sizeof value, sizeof value);                                   \
            any_nan |= value != value;                                                                     \
            words[i] = word_of_residue(residue_of_double((double)value));                                  \
        }                                                                                                  \
        for (int i = 0; any_nan && i < count; i++) {                                                       \
            memcpy(&value, at + (size_t)i * sizeof value, sizeof value);                                   \
            if (value != value && !is_null(column, first + i))                                             \
                return first + i;                                                                          \
        }                                                                                                  \
        return -1;                                                                                         \
    }

READ_FLOATS(read_float32, float)
READ_FLOATS(read_float64, double)

#define READ_VARIABLE(name, type, kind)                                                                    \
    static int64_t name(const Column *column, int64_t first, int count, uint64_t *hashes)                  \
    {                                                                                                      \
        const unsigned char *at = values_at(column, first, sizeof(type));                                  \
        for (int i = 0; i < count; i++, at += sizeof(type)) {                                              \
            type ends[2];                                                                                  \
            memcpy(ends, at, sizeof ends);                                                                 \
            hashes[i] = hash_of_bytes(column->data + ends[0], (size_t)(ends[1] - ends[0]), kind);          \
        }                                                                                                  \
        return -1;                                                                                         \
    }

READ_VARIABLE(read_text32, int32_t, KIND_TEXT)
READ_VARIABLE(read_text64, int64_t, KIND_TEXT)
READ_VARIABLE(read_binary32, int32_t, KIND_BYTES)
READ_VARIABLE(read_binary64, int64_t, KIND_BYTES)

static int64_t read_fixed_binary(const Column *column, int64_t first, int count, uint64_t *hashes)
{
    const unsigned char *at = values_at(column, first, column->width);
    for (int i = 0; i < count; i++, at += column->width)
        hashes[i] = hash_of_bytes(at, column->width, KIND_BYTES);
    return -1;
}

/* The digits of a decimal, an integer of 128 bits in the machine's order. */
typedef struct {
    uint64_t words[2];
} Digits;

static inline int64_t residue_of_digits(Digits digits, uint64_t factor)
{
    Wide number;
    memcpy(&number, &digits, sizeof number);
    int negative = (int)(number >> 127);
    number = negative ? 0 - number : number;
    /* 2^122 is 1, so that the three groups of 61 bits are added. */
    uint64_t low = (uint64_t)number & MODULUS, middle = (uint64_t)(number >> 61) & MODULUS;
    uint64_t residue = times(reduced(low + middle + (uint64_t)(number >> 122)), factor);
    return negative ? -(int64_t)residue : (int64_t)residue;
}

static int64_t read_decimal128(const Column *column, int64_t first, int count, uint64_t *words)
{
    const unsigned char *at = values_at(column, first, sizeof(Digits));
    for (int i = 0; i < count; i++, at += sizeof(Digits)) {
        Digits digits;
        memcpy(&digits, at, sizeof digits);
        words[i] = word_of_residue(residue_of_digits(digits, column->factor));
    }
    return -1;
}

static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent; exponent /= 2, base = times(base, base))
        result = exponent % 2 ? times(result, base) : result;
    return result;
}

/* 10^-scale modulo 2^61 - 1, a prime, so that the exponent counts modulo 2^61 - 2. */
static uint64_t factor_of_scale(long scale)
{
    return power(10, scale <= 0 ? (uint64_t)-scale : MODULUS - 1 - (uint64_t)scale);
}

static const struct {
    const char *format;
    int64_t buffers;
    ReadColumn read;
    unsigned char kind;
} types[] = {
    {"n", 0, read_nulls, 0},
    {"b", 2, read_bools, KIND_NUMBER},
    {"c", 2, read_int8, KIND_NUMBER},
    {"C", 2, read_uint8, KIND_NUMBER},
    {"s", 2, read_int16, KIND_NUMBER},
    {"S", 2, read_uint16, KIND_NUMBER},
    {"i", 2, read_int32, KIND_NUMBER},
    {"I", 2, read_uint32, KIND_NUMBER},
    {"l", 2, read_int64, KIND_NUMBER},
    {"L", 2, read_uint64, KIND_NUMBER},
    {"f", 2, read_float32, KIND_NUMBER},
    {"g", 2, read_float64, KIND_NUMBER},
    {"d:", 2, read_decimal128, KIND_NUMBER},
    /* A timestamp is the int of its unit; the zone behind the colon belongs to the schema. */
    {"tss:", 2, read_int64, KIND_NUMBER},
    {"tsm:", 2, read_int64, KIND_NUMBER},
    {"tsu:", 2, read_int64, KIND_NUMBER},
    {"tsn:", 2, read_int64, KIND_NUMBER},
    {"tdD", 2, read_days, KIND_DATE},
    {"u", 3, read_text32, 0},
    {"U", 3, read_text64, 0},
    {"z", 3, read_binary32, 0},
    {"Z", 3, read_binary64, 0},
    {"w:", 2, read_fixed_binary, 0},
};

/* A format ends where its entry does, or goes on with parameters behind its colon. */
static int is_of(const char *format, const char *entry)
{
    size_t length = strlen(entry);
    return strncmp(format, entry, length) == 0 && (entry[length - 1] == ':' || format[length] == '\0');
}

/* Reads the parameters of a type; 0 where it has others than are known here. */
static int read_parameters(Column *column, const char *format)
{
    const char *colon = strchr(format, ':');
    if (*format == 'w')
        column->width = strtoull(colon + 1, NULL, 10);
    if (*format != 'd')
        return 1;
    const char *comma = strchr(format, ',');
    char *end = NULL;
    long scale = comma == NULL ? 0 : strtol(comma + 1, &end, 10);
    column->factor = factor_of_scale(scale);
    return comma != NULL && (*end == '\0' || strcmp(end, ",128") == 0);
}

int column_open(Column *column, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    *column = (Column){.array = array};
    int64_t buffers = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types && column->read == NULL; i++)
        if (is_of(schema->format, types[i].format)) {
            column->read = types[i].read;
            column->kind = types[i].kind;
            buffers = types[i].buffers;
        }
    if (column->read == NULL || schema->dictionary != NULL || !read_parameters(column, schema->format))
        return FOREIGN_COLUMN;
    if (array->n_buffers != buffers)
        return BROKEN_COLUMN;
    column->validity = buffers > 0 ? array->buffers[0] : NULL;
    column->values = buffers > 1 ? array->buffers[1] : NULL;
    column->data = buffers > 2 ? array->buffers[2] : NULL;
    return KNOWN_COLUMN;
}

int64_t column_hash(const Column *column, int64_t first, int count, uint64_t *hashes)
{
    int64_t refused = column->read(column, first, count, hashes);
    if (refused >= 0)
        return refused;
    if (column->kind)
        lanes_hash(hashes, count, column->kind);
    for (int i = 0; column->validity != NULL && i < count; i++)
        hashes[i] = is_null(column, first + i) ? hash_of_none() : hashes[i];
    return -1;
}
