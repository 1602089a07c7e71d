#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */

#include "viper/arena.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout.h"

static const uint64_t HEADER = VP_LINE;

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
    /* Most of it is never touched. If the kernel counted it, a process with dozens of arenas could not fork. */
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return with_header(map(vp_arena_segment_size(capacity), flags, -1), capacity);
}

vp_arena *vp_arena_format(int segment, uint64_t capacity)
{
    return with_header(map(vp_arena_segment_size(capacity), MAP_SHARED, segment), capacity);
}

/* Some systems tell the size of a segment in whole pages, and all map it so. */
static uint64_t pages(uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return size / page + (size % page > 0);
}

static int check(const vp_arena *arena, uint64_t size)
{
    if (arena->magic != VP_ARENA_MAGIC || arena->version != VP_ARENA_VERSION || arena->layout != vp_arena_layout())
        return VP_ARENA_FOREIGN;
    uint64_t whole = vp_arena_segment_size(arena->capacity);
    return whole && pages(whole) == pages(size) && arena->used <= arena->capacity ? 0 : VP_ARENA_SIZE;
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

void vp_arena_free(vp_arena *arena, uint64_t capacity)
{
    munmap(arena, HEADER + capacity);
}

uint64_t vp_arena_allocate(vp_arena *arena, uint64_t bytes)
{
    if (bytes == 0 || arena->used > arena->capacity || bytes > arena->capacity - arena->used)
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
