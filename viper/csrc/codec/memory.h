/* Short texts and bytes that come again and again: words, keys, names.
 *
 * A reader keeps those that come often, by their bytes, so that most are neither allocated nor hashed a second time,
 * and a key is the same object each time: a dictionary finds it without looking into it. A row of such a value alone is
 * kept, too. It is the reader's own: nothing of it lies in the channel. So it is right wherever a reader begins to read,
 * whichever tuples it leaves out, and whoever has died.
 *
 * Nanoseconds to decode a row and count its first value in a dictionary, in jumbo tuples of 1,024, with the latest texts
 * in 4,096 places, and with what is kept here (CPython 3.11, best of several in turn):
 *
 *     words of a Bible                         163    140
 *     3,000 keys, drawn evenly, alone          158    135
 *     10,000 of them, with a number            208    194
 *     texts that do not come again             273    225
 *
 * A dictionary in the channel, with numbers for texts, would only have the writer look up their bytes instead of the
 * reader. With all words known to both it takes 20 ns to write a word's number and 4 to make its row, where encoding
 * takes 12 and decoding 16: the reader of a word count would gain 2 of 100.
 */
#ifndef VIPER_MEMORY_H
#define VIPER_MEMORY_H

#include "rows/rows.h" /* first, as Python.h wants it */

#include <string.h>

enum {
    REMEMBERED = 32, /* bytes of a value that is kept */
    INLINE = 14,     /* those that a place itself holds */
    HABITS = 32,     /* columns of which it is known whether their values come again */
};

/* What values of the same bytes differ in. */
enum { ASCII_VALUE = 1, TEXT_1_VALUE, TEXT_2_VALUE, TEXT_4_VALUE, BYTES_VALUE };

/* Of a value the first eight bytes; and then, from the lowest, the next six, or of longer ones the last six, a byte of
 * zero, five bits of the length less one, and three of the variant. */
typedef struct {
    uint64_t first, rest;
} Key;

typedef struct {
    Key key;         /* but that the byte of zero says how often the value has come lately, see memory.c */
    PyObject *value; /* NULL: none, and no key is like this one's */
    PyObject *row;   /* a tuple of it; NULL: none yet */
} Place;

/* How often the values of a column come again. */
typedef struct {
    uint32_t asked, missed; /* since that was looked at */
    uint32_t resting;       /* so many are not asked for before it is tried again */
} Habit;

typedef struct {
    Place *places; /* a power of 2, one more than `mask`; NULL at first */
    uint64_t mask;
    uint32_t asked, missed; /* since it has grown, or that was looked at */
    Habit habits[HABITS];
} Memory;

static const uint64_t ONCE = UINT64_C(1) << 48, TIMES = UINT64_C(255) << 48, PATIENCE = UINT64_C(7) << 48;

/* Whether short values are asked for, of a column that has so many now. */
int memory_asks(Memory *memory, uint32_t column, uint32_t values);

/* Takes note of how many values of a column were asked for, and how many of them were not known. */
void memory_note(Memory *memory, uint32_t column, uint32_t asked, uint32_t missed);

/* Keeps a value of which the key is not there, unless what is in its place has come more often; and the row, which may
 * be NULL. */
void memory_keep(Memory *memory, Key key, PyObject *value, PyObject *row);

void memory_clear(Memory *memory);

static inline uint64_t low_bytes(uint64_t word, size_t count)
{
    return word & ((UINT64_C(1) << 8 * count) - 1);
}

/* The key of a value of 1 to REMEMBERED bytes, of which and behind which so many can be read. */
static inline Key key_of(int variant, const char *bytes, size_t size, size_t readable)
{
    Key key = {0, 0};
    if (size > INLINE) {
        memcpy(&key.first, bytes, 8);
        memcpy(&key.rest, bytes + size - 8, 8);
        key.rest >>= 16;
    } else if (readable >= sizeof key && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        memcpy(&key, bytes, sizeof key); /* two loads, where a copy of unknown length is a call */
        key.rest = size <= 8 ? 0 : low_bytes(key.rest, size - 8);
        key.first = size >= 8 ? key.first : low_bytes(key.first, size);
    } else {
        memcpy(&key, bytes, size);
        key.rest &= ~(UINT64_C(0xFFFF) << 48);
    }
    key.rest |= (uint64_t)(variant << 5 | (int)(size - 1)) << 56;
    return key;
}

static inline Place *place_of(const Memory *memory, Key key)
{
    uint64_t hash = (key.first ^ (key.rest << 29 | key.rest >> 35)) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93); /* else the last bits of the key would not matter */
    return &memory->places[hash >> 40 & memory->mask];
}

static inline const char *bytes_of(PyObject *value)
{
    return PyBytes_CheckExact(value) ? PyBytes_AS_STRING(value) : PyUnicode_DATA(value);
}

/* The place where a value is; NULL where it is not known. */
static inline Place *memory_find(const Memory *memory, Key key, const char *bytes, size_t size)
{
    Place *place = place_of(memory, key);
    if (place->key.first != key.first || (place->key.rest & ~TIMES) != key.rest)
        return NULL;
    if (size > INLINE && memcmp(bytes_of(place->value) + 8, bytes + 8, size - 8))
        return NULL;
    if ((place->key.rest & TIMES) < PATIENCE)
        place->key.rest += ONCE;
    return place;
}

#endif
