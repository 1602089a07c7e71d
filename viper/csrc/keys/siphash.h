/* SipHash-1-3, after J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT 2012): one
 * round for each word of eight bytes, and three at the end.
 *
 * It spreads keys evenly whatever family they come from, which the far cheaper functions do not, and takes five
 * rounds for a number. Its key is fixed here: every process of every run places keys alike, and nothing is secret.
 */
#ifndef VIPER_SIPHASH_H
#define VIPER_SIPHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t v0, v1, v2, v3;
} Sip;

static inline uint64_t sip_rotated(uint64_t word, int by)
{
    return word << by | word >> (64 - by);
}

static inline Sip sip_start(uint64_t key0, uint64_t key1)
{
    return (Sip){key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du, key0 ^ 0x6c7967656e657261u,
                 key1 ^ 0x7465646279746573u};
}

static inline Sip sip_round(Sip s)
{
    s.v0 += s.v1;
    s.v2 += s.v3;
    s.v1 = sip_rotated(s.v1, 13) ^ s.v0;
    s.v3 = sip_rotated(s.v3, 16) ^ s.v2;
    s.v0 = sip_rotated(s.v0, 32);
    s.v2 += s.v1;
    s.v0 += s.v3;
    s.v1 = sip_rotated(s.v1, 17) ^ s.v2;
    s.v3 = sip_rotated(s.v3, 21) ^ s.v0;
    s.v2 = sip_rotated(s.v2, 32);
    return s;
}

static inline Sip sip_word(Sip s, uint64_t word)
{
    s.v3 ^= word;
    s = sip_round(s);
    s.v0 ^= word;
    return s;
}

/* The hash, after the last word, whose highest byte is the number of all bytes modulo 256. */
static inline uint64_t sip_end(Sip s, uint64_t last)
{
    s = sip_word(s, last);
    s.v2 ^= 0xff;
    s = sip_round(sip_round(sip_round(s)));
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* Four or eight bytes as a little-endian number; compilers make one load of them. */
static inline uint64_t sip_load4(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

static inline uint64_t sip_load8(const unsigned char *at)
{
    return sip_load4(at) | sip_load4(at + 4) << 32;
}

/* Up to seven bytes, without reading others: two loads that may overlap, or at most three single bytes. */
static inline uint64_t sip_load_rest(const unsigned char *at, size_t size)
{
    if (size >= 4)
        return sip_load4(at) | sip_load4(at + size - 4) << 8 * (size - 4);
    if (size == 0)
        return 0;
    return (uint64_t)at[0] | (uint64_t)at[size / 2] << 8 * (size / 2) | (uint64_t)at[size - 1] << 8 * (size - 1);
}

/* The hash of some bytes. */
static inline uint64_t sip_bytes(Sip s, const unsigned char *data, size_t size)
{
    size_t rest = size % 8;
    for (const unsigned char *end = data + (size - rest); data != end; data += 8)
        s = sip_word(s, sip_load8(data));
    return sip_end(s, sip_load_rest(data, rest) | (uint64_t)size << 56);
}

/* The hash of some bytes and one more behind them. */
static inline uint64_t sip_bytes_and(Sip s, const unsigned char *data, size_t size, unsigned char behind)
{
    size_t rest = size % 8;
    for (const unsigned char *end = data + (size - rest); data != end; data += 8)
        s = sip_word(s, sip_load8(data));
    uint64_t last = sip_load_rest(data, rest) | (uint64_t)behind << 8 * rest;
    if (rest == 7) {
        s = sip_word(s, last);
        last = 0;
    }
    return sip_end(s, last | (uint64_t)(size + 1) << 56);
}

#endif
