/* Keys of state: canonical bytes, equal for equal keys whatever their types, and never for others.
 *
 *   none       '0'
 *   integer    'i', 8 bytes; of any type of number that equals one of 64 bits
 *   float      'f', 8 bytes; the others
 *   text       't', UTF-8, surrogates as three bytes
 *   bytes      'b', as they are
 *   sequence   's', and each member's length in 4 bytes with its canonical bytes
 *   the rest   'x', and the bytes that Python has for them
 *
 * The stable hash of a key says which group it belongs to, and where in a table it is looked for. Most words and all integers
 * take no more than VP_BYTES_INLINE bytes.
 */
#ifndef VIPER_KEY_H
#define VIPER_KEY_H

#include "rows/rows.h"

enum { BRIEF_KEY = 64 };

/* A key's bytes, in the same memory one after the other. Zeroed, it has none. */
typedef struct {
    PyObject *value;      /* what it is made of; NULL: its bytes tell it */
    unsigned char *bytes; /* `brief`, or memory of their own */
    size_t length, room;
    uint64_t hash;
    int whole; /* whether the bytes tell the value, and not only what it equals */
    unsigned char brief[BRIEF_KEY];
} Key;

/* What Python is asked about values that C does not know: their hash, and what stands for them, which is a plain value in a
 * tuple, or bytes. */
typedef struct {
    PyObject *hash, *canonical;
} Rare;

/* Makes the bytes and the hash of a key; -1 with an error set. */
int key_of_value(Key *key, PyObject *value, const Rare *rare);

/* Likewise of some of a row's values: of one field its value, of several the tuple of them. */
int key_of_row(Key *key, PyObject *row, PyObject *indexes, const Rare *rare);

/* Takes a kind and bytes as those of a key whose value nobody has; -1 with an error set. */
int key_of_bytes(Key *key, unsigned char kind, const void *data, size_t size, uint64_t hash);

/* The value of a key whose bytes tell it; NULL with an error set. */
PyObject *key_to_value(const unsigned char *bytes, size_t length);

void key_clear(Key *key);

/* canonical_key(value, hash_of_rare, canonical_of_rare) -> bytes, as Python calls it. */
PyObject *key_canonical(PyObject *module, PyObject *args);

#endif
