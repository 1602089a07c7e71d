/* The arena hands out separate, aligned, zeroed regions, and no more than it has. */
#include <string.h>

#include "check.h"
#include "viper/arena.h"

static void test_regions(void)
{
    vp_arena *arena = vp_arena_new(1000);
    CHECK(arena && arena->magic == VP_ARENA_MAGIC && arena->layout == vp_arena_layout());
    uint64_t first = vp_arena_allocate(arena, 1), second = vp_arena_allocate(arena, 129);
    CHECK_EQUAL(second, first + VP_LINE);
    CHECK_EQUAL(arena->used, 3 * VP_LINE);
    CHECK_EQUAL((uintptr_t)vp_arena_at(arena, second) % VP_LINE, 0);
    CHECK_EQUAL(*(char *)vp_arena_at(arena, second), 0);
    memset(vp_arena_at(arena, second), 1, 129);
    CHECK_EQUAL(arena->used, 3 * VP_LINE);
    vp_arena_free(arena, arena->capacity);
}

static void test_full(void)
{
    vp_arena *arena = vp_arena_new(2 * VP_LINE);
    CHECK_EQUAL(vp_arena_allocate(arena, UINT64_MAX), 0);
    CHECK_EQUAL(vp_arena_allocate(arena, 2 * VP_LINE + 1), 0);
    CHECK(vp_arena_allocate(arena, 2 * VP_LINE) != 0);
    CHECK_EQUAL(vp_arena_allocate(arena, 0), 0);
    CHECK_EQUAL(vp_arena_allocate(arena, 1), 0);
    CHECK_EQUAL(arena->used, arena->capacity);
    vp_arena_free(arena, arena->capacity);
}

static void test_headers_that_were_written_over(void)
{
    vp_arena *arena = vp_arena_new(2 * VP_LINE);
    CHECK_EQUAL(vp_arena_allocate(arena, 0), 0);
    arena->used = arena->capacity + VP_LINE;
    CHECK_EQUAL(vp_arena_allocate(arena, 1), 0);
    vp_arena_free(arena, 2 * VP_LINE);
}

static void test_more_than_the_system_has(void)
{
    CHECK(vp_arena_new(UINT64_MAX) == NULL);
    CHECK(vp_arena_new(UINT64_MAX / 2) == NULL);
}

int main(void)
{
    test_regions();
    test_full();
    test_headers_that_were_written_over();
    test_more_than_the_system_has();
}
