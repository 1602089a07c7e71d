#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "viper/arena.h"

#include <stddef.h>
#include <sys/mman.h>

#include "layout.h"

static const uint64_t HEADER = VP_LINE;

uint64_t vp_arena_layout(void)
{
    const uint64_t facts[] = {
        sizeof(vp_arena), sizeof(vp_position), sizeof(vp_slot), sizeof(vp_ring), VP_LINE,
        offsetof(vp_ring, producer), offsetof(vp_ring, progress), offsetof(vp_ring, consumer),
        offsetof(vp_producer_words, next), offsetof(vp_producer_words, floor), offsetof(vp_progress, lo),
    };
    uint64_t signature = UINT64_C(14695981039346656037); /* FNV-1a, a word at a time */
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        signature = (signature ^ facts[i]) * UINT64_C(1099511628211);
    return signature;
}

uint64_t vp_arena_rounded(uint64_t bytes)
{
    return (bytes + VP_LINE - 1) / VP_LINE * VP_LINE;
}

vp_arena *vp_arena_new(uint64_t capacity)
{
    if (capacity > SIZE_MAX - HEADER)
        return NULL;
    vp_arena *arena = mmap(NULL, HEADER + capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED)
        return NULL;
    *arena = (vp_arena){VP_ARENA_MAGIC, VP_ARENA_VERSION, vp_arena_layout(), capacity, 0};
    return arena;
}

void vp_arena_free(vp_arena *arena)
{
    munmap(arena, HEADER + arena->capacity);
}

uint64_t vp_arena_allocate(vp_arena *arena, uint64_t bytes)
{
    if (bytes > arena->capacity - arena->used)
        return 0;
    uint64_t rounded = vp_arena_rounded(bytes);
    if (rounded > arena->capacity - arena->used)
        return 0;
    uint64_t offset = HEADER + arena->used;
    arena->used += rounded;
    return offset;
}

void *vp_arena_at(vp_arena *arena, uint64_t offset)
{
    return (char *)arena + offset;
}
