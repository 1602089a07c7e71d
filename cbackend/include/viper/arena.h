/* The arena: one block of memory that everything which the tasks of a run share lives in.
 *
 * Regions are handed out by their offset from the block's start and never taken back: a run makes
 * all it needs before it starts, and the block goes as a whole. What lies in a region refers to other
 * places by offset too, because a block may be mapped at several addresses.
 *
 * A block is private to a process, or lies in a segment that other processes map as well. A segment
 * is passed around as a file descriptor. It has no name that could be left behind, so the system takes
 * it back when the last process that has it dies, however that dies.
 */
#ifndef VIPER_ARENA_H
#define VIPER_ARENA_H

#include <stdint.h>

#define VP_ARENA_MAGIC 0x56495045524152
#define VP_ARENA_VERSION 3

/* The block's header, at its start. */
typedef struct {
    uint64_t magic, version;
    uint64_t layout;         /* signature of all structures' members, as the block's maker compiled them */
    uint64_t capacity, used; /* bytes for regions */
} vp_arena;

/* Why a segment is no arena of this build. */
enum {
    VP_ARENA_SYSTEM = -1, /* the system cannot map it: see errno */
    VP_ARENA_SIZE = -2,   /* it is smaller than a header, or its header tells of another size or more use */
    VP_ARENA_FOREIGN = -3 /* its header has another magic, version or layout */
};

/* The layout signature of this build. */
uint64_t vp_arena_layout(void);

/* Bytes of a segment for an arena of that capacity; 0 if there can be none. */
uint64_t vp_arena_segment_size(uint64_t capacity);

/* An arena that only this process and those it forks later (as a copy) see; NULL if the system has
 * no memory for it. Untouched pages take none. */
vp_arena *vp_arena_new(uint64_t capacity);

/* Makes an arena of a zeroed segment of vp_arena_segment_size(capacity) bytes; NULL if it cannot be
 * mapped. */
vp_arena *vp_arena_format(int segment, uint64_t capacity);

/* Maps the arena of a segment. Returns 0, or why not; what its header said then is copied to `found`. */
int vp_arena_attach(int segment, vp_arena **arena, vp_arena *found);

/* Unmaps it from this process. Its capacity is told by who mapped it: others can write its header. */
void vp_arena_free(vp_arena *arena, uint64_t capacity);

/* What a region of that many bytes takes: regions never share a cache line. */
uint64_t vp_arena_rounded(uint64_t bytes);

/* The offset of a zeroed region; 0 if there is no room, or of no bytes. Not for concurrent use. */
uint64_t vp_arena_allocate(vp_arena *arena, uint64_t bytes);

/* The address of an offset in this process. */
void *vp_arena_at(vp_arena *arena, uint64_t offset);

#endif
