/* The pool: memory that the state of a run grows into, a region of an arena.
 *
 * It is cut into blocks. Whoever needs memory claims some in a row, an extent, while others claim theirs, and gives
 * them back when they are no longer needed. Each block says whose it is, so that nothing is lost by a death: an
 * extent is tentative until the slice that claimed it is committed, and going once a slice that gives it up is.
 * vp_pool_reclaim gives the tentative and the going ones of a dead owner back.
 */
#ifndef VIPER_POOL_H
#define VIPER_POOL_H

#include <stdint.h>

/* Bytes of a block. */
#define VP_POOL_BLOCK 16384
/* The most blocks of a pool, and one more than the largest number of an owner; owners count from 1. */
#define VP_POOL_BLOCKS (UINT32_C(1) << 31)
#define VP_POOL_OWNERS (UINT32_C(1) << 24)

typedef struct vp_pool vp_pool;

/* Bytes of a region for a pool of so many blocks. */
uint64_t vp_pool_size(uint64_t blocks);

/* Makes a pool out of the zeroed region at an offset in an arena. */
vp_pool *vp_pool_format(void *arena, uint64_t offset, uint64_t blocks);

/* The pool at an offset in an arena; NULL if none was made there. */
vp_pool *vp_pool_at(void *arena, uint64_t offset);

/* The offset in the arena of a tentative extent of so many blocks; 0 if there is no room. Its bytes are those that
 * were there before. From any task, for an owner that is its own. */
uint64_t vp_pool_claim(vp_pool *pool, uint32_t owner, uint64_t blocks);

/* Gives an extent back. */
void vp_pool_give(vp_pool *pool, uint64_t offset);

/* Gives back what the dead left tentative or going of those owners, for whom `owned` is not 0. Returns how many
 * extents. */
uint64_t vp_pool_reclaim(vp_pool *pool, const uint8_t *owned, uint64_t owner_count);

/* Blocks that are claimed, and how many there are; for statistics. */
uint64_t vp_pool_claimed(const vp_pool *pool);
uint64_t vp_pool_blocks(const vp_pool *pool);

#endif
