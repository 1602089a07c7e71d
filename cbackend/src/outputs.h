/* How many outputs inputs have, in any of the forms in which that is told. */
#ifndef VIPER_OUTPUTS_H
#define VIPER_OUTPUTS_H

#include "bits.h"
#include "viper/position.h"

/* Those of inputs [first, end). */
static inline uint64_t vp_outputs_of(const vp_outputs *outputs, uint64_t first, uint64_t end)
{
    if (outputs->ends)
        return end > 0 ? outputs->ends[end - 1] - (first > 0 ? outputs->ends[first - 1] : 0) : 0;
    uint64_t count = end - first;
    for (uint64_t i = first; outputs->kept && i < end; i++)
        count -= !vp_bit_at(outputs->kept, i);
    return count;
}

/* Those of so many inputs, from the first one on. */
static inline uint64_t vp_outputs_in_all(const vp_outputs *outputs, uint64_t count)
{
    if (outputs->ends)
        return count > 0 ? outputs->ends[count - 1] : 0;
    return outputs->kept ? vp_bits_ones(outputs->kept, count) : count;
}

#endif
