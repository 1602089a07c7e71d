/* A group is handed over: who sees in a register that its owner has, sees its rows, and what lies in its heap.
 *
 * Planted: registers.c orders nothing.
 */
#include "litmus.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#ifdef PLANTED
#include "weaker.h"
#endif
#include "registers.c"
#include "stronger.h"

#include "pool.c"
#include "writer.c"
#include "heap.c"
#include "bytes.c"
#include "keyed.c"

enum { ROWS = 3, BLOCKS = 32, AT = 64, ROOM = 1024, OLD_OWNER = 1, NEW_OWNER = 2, OF_GROUP = 3, OWNERS = 4 };
/* Longer than what lies in a row itself. */
static const char key[] = "a key of the group";

static alignas(VP_LINE) char arena[6 * ROOM + (BLOCKS + 2) * VP_POOL_BLOCK];
static const uint8_t owned[OWNERS] = {[OF_GROUP] = 1};
static vp_registers *handed;
static vp_heap *heap;
static vp_keyed *table;
static vp_writer *writers[2];
static bool taken_over;

static void prepare_round(void)
{
    memset(arena, 0, sizeof arena);
    handed = vp_registers_format(arena + AT, 1);
    heap = vp_heap_format(arena, AT + ROOM, OF_GROUP);
    table = vp_keyed_format(arena, AT + 2 * ROOM, 1);
    vp_pool *pool = vp_pool_format(arena, AT + 5 * ROOM, BLOCKS);
    writers[0] = vp_writer_open(arena, pool, vp_undo_format(arena, AT + 3 * ROOM, OLD_OWNER), owned, OWNERS);
    writers[1] = vp_writer_open(arena, pool, vp_undo_format(arena, AT + 4 * ROOM, NEW_OWNER), owned, OWNERS);
    assert(writers[0] && writers[1]);
    taken_over = false;
}

/* The row of a number, whose hash it is, too. */
static uint64_t *values_of(vp_writer *writer, uint64_t number)
{
    bool moved;
    char numbered[sizeof key];
    memcpy(numbered, key, sizeof key);
    numbered[0] = (char)('a' + number);
    vp_row *row = vp_keyed_enter(writer, table, heap, number << 32, numbered, sizeof numbered, &moved);
    assert(row);
    return vp_row_values(row);
}

static void add_one(vp_writer *writer, uint64_t number)
{
    uint64_t *value = values_of(writer, number);
    int full = vp_writer_write(writer, (uint64_t)((char *)value - arena), *value + 1);
    assert(!full);
}

static void hand_over(void)
{
    for (uint64_t number = 0; number < ROWS; number++)
        add_one(writers[0], number);
    vp_writer_commit(writers[0]);
    vp_register_write(handed, 0, 1);
}

static void take_over(void)
{
    for (int tries = 0; tries < TRIES && !taken_over; tries++) {
        step();
        taken_over = vp_register_read(handed, 0);
    }
    if (!taken_over)
        return;
    for (uint64_t number = 0; number <= ROWS; number++)
        add_one(writers[1], number);
    vp_writer_commit(writers[1]);
    assert(vp_keyed_count(table) == ROWS + 1);
    for (uint64_t number = 0; number <= ROWS; number++)
        assert(*values_of(writers[1], number) == (number < ROWS ? 2 : 1));
}

static void judge_round(void)
{
    witnessed += taken_over;
    vp_writer_close(writers[0]);
    vp_writer_close(writers[1]);
}

int main(void)
{
    return run_rounds(2, (task[]){{0, hand_over}, {1, take_over}});
}
