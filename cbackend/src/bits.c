#include "bits.h"

/* Counting the ones of a word takes one instruction that not every x86-64 has: the loader takes the variant for this
 * machine. The sanitizers' own functions are not there yet when it does. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define WITH_POPCNT __attribute__((target_clones("popcnt", "default")))
#else
#define WITH_POPCNT
#endif

WITH_POPCNT uint64_t vp_bits_find(const uint64_t *bits, uint64_t first, uint64_t before)
{
    uint64_t index = first / 64, word = bits[index] & UINT64_MAX << first % 64;
    for (uint64_t ones; (ones = (uint64_t)__builtin_popcountll(word)) <= before; word = bits[++index])
        before -= ones;
    for (; before > 0; before--)
        word &= word - 1;
    return 64 * index + (uint64_t)__builtin_ctzll(word);
}

WITH_POPCNT uint64_t vp_bits_ones(const uint64_t *bits, uint64_t count)
{
    uint64_t ones = 0;
    for (uint64_t i = 0; i < count / 64; i++)
        ones += (uint64_t)__builtin_popcountll(bits[i]);
    return count % 64 ? ones + (uint64_t)__builtin_popcountll(bits[count / 64] & vp_ones(count % 64)) : ones;
}

uint64_t vp_bits_next(const uint64_t *bits, uint64_t first)
{
    uint64_t index = first / 64, word = bits[index] & UINT64_MAX << first % 64;
    while (!word)
        word = bits[++index];
    return 64 * index + (uint64_t)__builtin_ctzll(word);
}

uint64_t vp_bits_run_before(const uint64_t *bits, uint64_t first, uint64_t index)
{
    uint64_t run = 0;
    while (index > first) {
        uint64_t count = index - first < 64 ? index - first : 64;
        uint64_t zeros = ~(vp_bits_read(bits, index - count, count) << (64 - count));
        uint64_t ones = zeros ? (uint64_t)__builtin_clzll(zeros) : 64;
        if (ones < count)
            return run + ones;
        run += count;
        index -= count;
    }
    return run;
}

void vp_bits_copy(uint64_t *into, const uint64_t *bits, uint64_t first, uint64_t count)
{
    for (uint64_t done = 0; done < count; done += 64)
        into[done / 64] = vp_bits_read(bits, first + done, count - done < 64 ? count - done : 64);
}
