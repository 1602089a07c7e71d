/* Claims: a compare and swap for each block, the first one first, in ascending order; who finds a block taken lets go
 * and looks on behind it. Progress: lock-free, as a claim fails only because another one succeeded.
 *
 * Order.  Acquire and release: the bytes of a block that its last owner wrote are seen by nobody but its next one.
 * Death.  Whoever dies in a claim leaves words of a tentative extent, whoever dies in giving back those of a
 *         going one: the first ones in either case. Those behind them may be somebody else's, or another extent's.
 */
#include "pool.h"

#include <stddef.h>

#include "crash.h"

uint64_t vp_pool_size(uint64_t blocks)
{
    uint64_t words = sizeof(vp_pool) + blocks * sizeof(uint64_t);
    return (words + VP_LINE - 1) / VP_LINE * VP_LINE + blocks * VP_POOL_BLOCK;
}

vp_pool *vp_pool_format(void *arena, uint64_t offset, uint64_t blocks)
{
    if (blocks == 0 || blocks > VP_POOL_BLOCKS)
        return NULL;
    vp_pool *pool = (vp_pool *)((char *)arena + offset);
    *pool = (vp_pool){.at = offset, .blocks = blocks, .blocks_at = vp_pool_size(blocks) - blocks * VP_POOL_BLOCK};
    pool->kind = VP_POOL_KIND;
    return pool;
}

vp_pool *vp_pool_at(void *arena, uint64_t offset)
{
    vp_pool *pool = (vp_pool *)((char *)arena + offset);
    return pool->kind == VP_POOL_KIND && pool->at == offset ? pool : NULL;
}

static uint64_t offset_of(const vp_pool *pool, uint64_t block)
{
    return pool->at + pool->blocks_at + block * VP_POOL_BLOCK;
}

static bool take_word(vp_pool *pool, uint64_t block, uint64_t word)
{
    uint64_t free_word = 0;
    return atomic_compare_exchange_strong_explicit(&pool->words[block], &free_word, word, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* How many words of an extent there are: all, or the first ones, of one that is being claimed or given back. */
static uint64_t words_of(const vp_pool *pool, uint64_t first, uint64_t blocks, uint32_t owner)
{
    uint64_t count = 1;
    while (count < blocks &&
           atomic_load_explicit(&pool->words[first + count], memory_order_relaxed) == vp_extent(0, owner, 0))
        count++;
    return count;
}

/* Frees what there is of an extent, from the last to the first. */
static void free_extent(vp_pool *pool, uint64_t first)
{
    uint64_t word = atomic_load_explicit(&pool->words[first], memory_order_relaxed);
    uint64_t count = words_of(pool, first, vp_extent_blocks(word), vp_extent_owner(word));
    while (count-- > 0) {
        atomic_store_explicit(&pool->words[first + count], 0, memory_order_release);
        VP_CRASH_POINT("pool: giving");
    }
}

/* Claims an extent that begins at a block; returns how many of its blocks were free, all or not. */
static uint64_t claim_at(vp_pool *pool, uint64_t first, uint32_t owner, uint64_t blocks)
{
    for (uint64_t taken = 0; taken < blocks; taken++) {
        uint64_t word = taken ? vp_extent(0, owner, 0) : vp_extent(VP_TENTATIVE, owner, blocks);
        if (!take_word(pool, first + taken, word)) {
            if (taken)
                free_extent(pool, first);
            return taken;
        }
        VP_CRASH_POINT("pool: claiming");
    }
    return blocks;
}

/* Blocks from one on have never been claimed. */
static void raise_top(vp_pool *pool, uint64_t block)
{
    uint64_t top = atomic_load_explicit(&pool->top, memory_order_relaxed);
    while (top < block && !atomic_compare_exchange_weak_explicit(&pool->top, &top, block, memory_order_relaxed,
                                                                 memory_order_relaxed))
        ;
}

/* Looks for an extent that begins in [from, to); returns its first block, or that of no block. */
static uint64_t claim_between(vp_pool *pool, uint64_t from, uint64_t to, uint32_t owner, uint64_t blocks)
{
    for (uint64_t first = from; first < to && blocks <= pool->blocks - first;) {
        raise_top(pool, first + blocks);
        uint64_t taken = claim_at(pool, first, owner, blocks);
        if (taken == blocks)
            return first;
        first += taken + 1;
    }
    return pool->blocks;
}

uint64_t vp_pool_claim(vp_pool *pool, uint32_t owner, uint64_t blocks)
{
    if (blocks == 0 || blocks > pool->blocks)
        return 0;
    uint64_t hint = atomic_load_explicit(&pool->hint, memory_order_relaxed);
    uint64_t first = claim_between(pool, hint, pool->blocks, owner, blocks);
    if (first == pool->blocks)
        first = claim_between(pool, 0, hint, owner, blocks);
    if (first == pool->blocks)
        return 0;
    atomic_store_explicit(&pool->hint, (first + blocks) % pool->blocks, memory_order_relaxed);
    return offset_of(pool, first);
}

void vp_pool_give(vp_pool *pool, uint64_t offset)
{
    free_extent(pool, (uint64_t)(vp_pool_word(pool, offset) - pool->words));
}

static uint64_t top_of(const vp_pool *pool)
{
    return atomic_load_explicit(&pool->top, memory_order_relaxed);
}

uint64_t vp_pool_reclaim(vp_pool *pool, const uint8_t *owned, uint64_t owner_count)
{
    uint64_t count = 0;
    for (uint64_t block = 0; block < top_of(pool); block++) {
        uint64_t word = atomic_load_explicit(&pool->words[block], memory_order_relaxed);
        uint64_t state = vp_extent_state(word);
        if (state == VP_SETTLED) {
            block += vp_extent_blocks(word) - 1;
        } else if (state && vp_extent_owner(word) < owner_count && owned[vp_extent_owner(word)]) {
            free_extent(pool, block);
            count++;
        }
    }
    return count;
}

uint64_t vp_pool_claimed(const vp_pool *pool)
{
    uint64_t claimed = 0;
    for (uint64_t block = 0; block < top_of(pool); block++)
        claimed += atomic_load_explicit(&pool->words[block], memory_order_relaxed) != 0;
    return claimed;
}

uint64_t vp_pool_blocks(const vp_pool *pool)
{
    return pool->blocks;
}
