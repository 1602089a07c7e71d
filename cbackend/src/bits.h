/* Strings of bits, from the lowest of each word of 64 upwards. */
#ifndef VIPER_BITS_H
#define VIPER_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* A string that grows; its words need not be zero. */
typedef struct {
    uint64_t *words;
    uint64_t length;
} vp_bits;

static inline uint64_t vp_words_of(uint64_t bits)
{
    return (bits + 63) / 64;
}

static inline bool vp_bit_at(const uint64_t *bits, uint64_t index)
{
    return bits[index / 64] >> index % 64 & 1;
}

/* So many ones, 64 at most. */
static inline uint64_t vp_ones(uint64_t count)
{
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* Bits [first, first + count), of which there are 1 to 64; reads no word behind those that they are in. */
static inline uint64_t vp_bits_read(const uint64_t *bits, uint64_t first, uint64_t count)
{
    uint64_t shift = first % 64, found = bits[first / 64] >> shift;
    if (shift + count > 64)
        found |= bits[first / 64 + 1] << (64 - shift);
    return found & vp_ones(count);
}

/* Appends the lowest `count` bits of a word, 1 to 64, which has no others. */
static inline void vp_bits_append(vp_bits *bits, uint64_t word, uint64_t count)
{
    uint64_t shift = bits->length % 64, *at = bits->words + bits->length / 64;
    *at = shift ? *at | word << shift : word;
    if (shift + count > 64)
        at[1] = word >> (64 - shift);
    bits->length += count;
}

/* The index of the one that has `before` ones between it and bit `first`; there must be one. */
uint64_t vp_bits_find(const uint64_t *bits, uint64_t first, uint64_t before);

/* How many of the first `count` bits are ones. */
uint64_t vp_bits_ones(const uint64_t *bits, uint64_t count);

/* The index of the first one from bit `first` on; there must be one. */
uint64_t vp_bits_next(const uint64_t *bits, uint64_t first);

/* How many ones stand directly before a bit, down to bit `first`. */
uint64_t vp_bits_run_before(const uint64_t *bits, uint64_t first, uint64_t index);

/* Writes bits [first, first + count) from the first bit of `into` on, and zeros up to the end of its last word. */
void vp_bits_copy(uint64_t *into, const uint64_t *bits, uint64_t first, uint64_t count);

#endif
