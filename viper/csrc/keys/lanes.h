/* SipHash of many rows side by side, in vectors where the processor has them: a column of integers takes 2.5 ns a row
 * with AVX-512, and 10 one by one (benchmarks/hashing.py). */
#ifndef VIPER_LANES_H
#define VIPER_LANES_H

#include <stdint.h>

/* Compilers make vectors of the loops in a function of these, in a variant for each kind of processor, of which the
 * loader takes the one for this machine. The sanitizer's own functions are not there yet when it does. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define IN_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define IN_VECTORS
#endif

/* Rows that are hashed together: their words and states, 10 KB, stay in the first cache. */
enum { LANES = 256 };

/* The states of so many hashes that are being made. */
typedef struct {
    uint64_t v0[LANES], v1[LANES], v2[LANES], v3[LANES];
} Lanes;

/* Puts the hash of each word, which is all of a value of that kind, in its place. */
void lanes_hash(uint64_t *words, int count, unsigned char kind);

void lanes_start(Lanes *lanes);

/* Takes in the next word of each hash. */
void lanes_word(Lanes *lanes, const uint64_t *words, int count);

/* The hashes, after their last word, which is the same for all. */
void lanes_end(const Lanes *lanes, uint64_t last, uint64_t *hashes, int count);

#endif
