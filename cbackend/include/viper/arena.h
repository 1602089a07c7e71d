/* The arena: one block of memory that all channels of a run live in.
 *
 * Regions are handed out by their offset from the block's start and never taken back: a run makes
 * all its channels before it starts, and the block goes as a whole. What lies in a region refers to
 * other places by offset too, because a block may be mapped at several addresses.
 */
#ifndef VIPER_ARENA_H
#define VIPER_ARENA_H

#include <stdint.h>

#define VP_ARENA_MAGIC 0x56495045524152
#define VP_ARENA_VERSION 1

/* The block's header, at its start. */
typedef struct {
    uint64_t magic, version;
    uint64_t layout;         /* signature of the structures' sizes and offsets, as the block's maker compiled them */
    uint64_t capacity, used; /* bytes for regions */
} vp_arena;

/* The layout signature of this build. */
uint64_t vp_arena_layout(void);

/* NULL if the system has no memory for it. Untouched pages take none. */
vp_arena *vp_arena_new(uint64_t capacity);
void vp_arena_free(vp_arena *arena);

/* What a region of that many bytes takes: regions never share a cache line. */
uint64_t vp_arena_rounded(uint64_t bytes);

/* The offset of a zeroed region; 0 if there is no room. Not for concurrent use. */
uint64_t vp_arena_allocate(vp_arena *arena, uint64_t bytes);

/* The address of an offset in this process. */
void *vp_arena_at(vp_arena *arena, uint64_t offset);

#endif
