/* The stable hash, version 2: SipHash-1-3 over a value's canonical bytes, which end with a byte for their kind.
 *
 *   text       UTF-8, surrogates as three bytes
 *   bytes      as they are
 *   number     Python's numeric hash as 8 bytes: the residue of the magnitude modulo 2^61 - 1, with the sign, and -2
 *              for -1; so equal numbers of all types are one
 *   none       nothing
 *   sequence   the hashes of the members, 8 bytes each
 *   date       days since 1970-01-01, 8 bytes
 *
 * Words are little-endian. `viper/hashing.py` adds the kinds that only Python sees. Whoever changes any of this moves
 * keys to other tasks: it is another version of the hash, and gets another key.
 */
#ifndef VIPER_CANONICAL_H
#define VIPER_CANONICAL_H

#include "siphash.h"

enum {
    KIND_TEXT = 't',
    KIND_BYTES = 'b',
    KIND_NUMBER = 'n',
    KIND_NONE = '0',
    KIND_SEQUENCE = 's',
    KIND_DATE = 'd',
};

/* "ViperStorm hash2", as two words. */
#define HASH_KEY_0 UINT64_C(0x6f74537265706956)
#define HASH_KEY_1 UINT64_C(0x3268736168206d72)

#define MODULUS ((UINT64_C(1) << 61) - 1)

__extension__ typedef unsigned __int128 Wide;

static inline Sip hash_start(void)
{
    return sip_start(HASH_KEY_0, HASH_KEY_1);
}

/* The last word of canonical bytes that are so many whole words and the byte for their kind. */
static inline uint64_t last_word(uint64_t words, unsigned char kind)
{
    return (8 * words + 1) << 56 | kind;
}

static inline uint64_t hash_of_word(uint64_t word, unsigned char kind)
{
    return sip_end(sip_word(hash_start(), word), last_word(1, kind));
}

static inline uint64_t hash_of_bytes(const void *data, size_t size, unsigned char kind)
{
    return sip_bytes_and(hash_start(), data, size, kind);
}

static inline uint64_t hash_of_none(void)
{
    return sip_end(hash_start(), last_word(0, KIND_NONE));
}

/* The canonical word of a number by its residue with the sign. */
static inline uint64_t word_of_residue(int64_t residue)
{
    return (uint64_t)(residue == -1 ? -2 : residue);
}

static inline uint64_t hash_of_residue(int64_t residue)
{
    return hash_of_word(word_of_residue(residue), KIND_NUMBER);
}

/* Any number of 64 bits modulo 2^61 - 1: 2^61 is 1. */
static inline uint64_t reduced(uint64_t number)
{
    number = (number & MODULUS) + (number >> 61);
    return number >= MODULUS ? number - MODULUS : number;
}

static inline uint64_t times(uint64_t a, uint64_t b)
{
    Wide product = (Wide)a * b;
    return reduced((uint64_t)(product & MODULUS) + (uint64_t)(product >> 61));
}

static inline int64_t residue_of_unsigned(uint64_t number)
{
    return (int64_t)reduced(number);
}

static inline int64_t residue_of_signed(int64_t number)
{
    return number < 0 ? -(int64_t)reduced(0 - (uint64_t)number) : (int64_t)reduced((uint64_t)number);
}

/* Of any double but NaN. Its mantissa is below the modulus, and times a power of two is a rotation of 61 bits. */
static inline int64_t residue_of_double(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    unsigned exponent = bits >> 52 & 0x7ff;
    if (exponent == 0x7ff)
        return bits >> 63 ? -314159 : 314159; /* Python's hash of infinities */
    if (exponent)
        mantissa |= UINT64_C(1) << 52;
    else
        exponent = 1;
    /* The number is the mantissa times 2^(exponent - 1075); 1,098 is the next multiple of 61. */
    unsigned by = (exponent + (1098 - 1075)) % 61;
    int64_t residue = (int64_t)((mantissa << by & MODULUS) | mantissa >> (61 - by));
    return bits >> 63 ? -residue : residue;
}

#endif
