/* How a pool lies in its region: | vp_pool | a word for each block ... | blocks ... |
 *
 * The word of an extent's first block has its state, its owner and how many blocks there are; the words of the others
 * have the owner alone. A word of 0 is free.
 */
#ifndef VIPER_SRC_POOL_H
#define VIPER_SRC_POOL_H

#include <stdalign.h>
#include <stdatomic.h>

#include "layout.h"
#include "viper/pool.h"

#define VP_POOL_KIND UINT64_C(0x5650504F4F4C3031)

enum { VP_TENTATIVE = 1, VP_SETTLED = 2, VP_GOING = 3 };

struct vp_pool {
    uint64_t kind;
    uint64_t at;        /* bytes from the arena's start */
    uint64_t blocks;
    uint64_t blocks_at; /* bytes from the pool's start to the first block */
    alignas(VP_LINE) _Atomic uint64_t hint; /* a block at which to begin to look */
    _Atomic uint64_t top;  /* blocks from here on have never been claimed */
    alignas(VP_LINE) _Atomic uint64_t words[];
};

static inline uint64_t vp_extent(uint64_t state, uint32_t owner, uint64_t blocks)
{
    return state << 62 | (uint64_t)owner << 32 | blocks;
}

static inline uint64_t vp_extent_state(uint64_t word)
{
    return word >> 62;
}

static inline uint32_t vp_extent_owner(uint64_t word)
{
    return (uint32_t)(word >> 32) & (VP_POOL_OWNERS - 1);
}

static inline uint64_t vp_extent_blocks(uint64_t word)
{
    return word & UINT32_MAX;
}

/* The word of the extent at an offset. */
static inline _Atomic uint64_t *vp_pool_word(vp_pool *pool, uint64_t offset)
{
    return &pool->words[(offset - pool->at - pool->blocks_at) / VP_POOL_BLOCK];
}

#endif
