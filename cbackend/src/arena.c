#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "viper/arena.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "layout.h"
#include "quota.h"

static const uint64_t HEADER = VP_LINE;

uint64_t vp_arena_layout(void)
{
    const uint64_t facts[] = {
        VP_LINE, sizeof(vp_arena), sizeof(vp_position), sizeof(vp_slot), sizeof(vp_progress), sizeof(vp_note),
        sizeof(vp_head), sizeof(vp_ring), sizeof(vp_reader_words), sizeof(vp_gate), sizeof(vp_bell), sizeof(vp_quota),
        offsetof(vp_slot, count), offsetof(vp_progress, last_ts), offsetof(vp_note, lo),
        offsetof(vp_producer_words, notes), offsetof(vp_ring, producer), offsetof(vp_ring, progress),
        offsetof(vp_ring, room), offsetof(vp_reader_words, holding), offsetof(vp_gate, readers),
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

uint64_t vp_arena_segment_size(uint64_t capacity)
{
    return capacity <= INT64_MAX - HEADER ? HEADER + capacity : 0;
}

static void *map(uint64_t size, int flags, int segment)
{
    void *mapped = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, flags, segment, 0) : MAP_FAILED;
    return mapped == MAP_FAILED ? NULL : mapped;
}

static vp_arena *with_header(vp_arena *arena, uint64_t capacity)
{
    if (arena)
        *arena = (vp_arena){VP_ARENA_MAGIC, VP_ARENA_VERSION, vp_arena_layout(), capacity, 0};
    return arena;
}

vp_arena *vp_arena_new(uint64_t capacity)
{
    return with_header(map(vp_arena_segment_size(capacity), MAP_PRIVATE | MAP_ANONYMOUS, -1), capacity);
}

vp_arena *vp_arena_format(int segment, uint64_t capacity)
{
    return with_header(map(vp_arena_segment_size(capacity), MAP_SHARED, segment), capacity);
}

static int check(const vp_arena *arena, uint64_t size)
{
    if (arena->magic != VP_ARENA_MAGIC || arena->version != VP_ARENA_VERSION || arena->layout != vp_arena_layout())
        return VP_ARENA_FOREIGN;
    return arena->capacity > size - HEADER ? VP_ARENA_SIZE : 0;
}

int vp_arena_attach(int segment, vp_arena **arena, vp_arena *found)
{
    struct stat status;
    if (fstat(segment, &status))
        return VP_ARENA_SYSTEM;
    uint64_t size = (uint64_t)status.st_size;
    if (size < HEADER)
        return VP_ARENA_SIZE;
    vp_arena *mapped = map(size, MAP_SHARED, segment);
    if (!mapped)
        return VP_ARENA_SYSTEM;
    *found = *mapped;
    int fault = check(found, size);
    if (fault)
        munmap(mapped, size);
    else
        *arena = mapped;
    return fault;
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
