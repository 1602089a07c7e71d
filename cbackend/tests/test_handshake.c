/* The handshake of a source that finds its ring full and a reader that releases: whatever the other does
 * between two steps, the source either finds the room or is rung. */
#include <string.h>

#include "check.h"
#include "viper/arena.h"

static vp_gate *gate;
static vp_ring *ring;
static vp_merge *merge;
static vp_bell *bell;
static const char *point;

static void set_up(vp_arena **arena)
{
    vp_gate_shape shape = {1, 1, 2, 8, 64, false};
    *arena = vp_arena_new(vp_gate_size(shape) + 2 * VP_LINE);
    gate = vp_gate_format(*arena, vp_arena_allocate(*arena, vp_gate_size(shape)), shape);
    ring = vp_gate_ring(gate, 0);
    merge = vp_merge_new(gate, 0);
    uint64_t offset = vp_arena_allocate(*arena, vp_bell_size());
    vp_gate_set_source_bell(gate, 0, offset);
    bell = vp_arena_at(*arena, offset);
    CHECK(add(ring, 1, 1) >= 0 && add(ring, 2, 1) >= 0);
}

static void take_one(void)
{
    vp_positions *into = vp_positions_new();
    vp_run run;
    CHECK_EQUAL(vp_merge_take(merge, into, 1, &run, 1), 1);
    vp_positions_free(into);
}

static void release_at(const char *name)
{
    if (strcmp(name, point))
        return;
    at_point = NULL;
    vp_merge_release(merge);
}

static void test_a_release_during_a_claim(const char *name)
{
    vp_arena *arena;
    set_up(&arena);
    take_one();
    uint32_t ticket = vp_bell_ticket(bell);
    point = name;
    at_point = release_at;
    int64_t slot = add(ring, 3, 1);
    CHECK(at_point == NULL); /* it came to the point */
    CHECK(slot >= 0 || vp_bell_ticket(bell) != ticket);
    CHECK(slot < 0 || !atomic_load(&ring->room.wanting)); /* who has room wants no bell */
    vp_merge_free(merge);
    vp_arena_free(arena, arena->capacity);
}

static bool found_room;

static void claim_at(const char *name)
{
    if (strcmp(name, point))
        return;
    at_point = NULL;
    found_room = add(ring, 3, 1) >= 0;
}

static void test_a_claim_during_a_release(const char *name)
{
    vp_arena *arena;
    set_up(&arena);
    take_one();
    atomic_store(&ring->room.wanting, strcmp(name, "release: not rung") == 0);
    uint32_t ticket = vp_bell_ticket(bell);
    point = name;
    at_point = claim_at;
    vp_merge_release(merge);
    CHECK(at_point == NULL);
    CHECK(found_room || vp_bell_ticket(bell) != ticket);
    vp_merge_free(merge);
    vp_arena_free(arena, arena->capacity);
}

int main(void)
{
    test_a_release_during_a_claim("claim: full");
    test_a_release_during_a_claim("claim: wanting");
    test_a_claim_during_a_release("release: not yet");
    test_a_claim_during_a_release("release: released");
    test_a_claim_during_a_release("release: not rung");
}
