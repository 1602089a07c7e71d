/* Words that go back with a slice, and how they are written. See viper/writer.h. */
#ifndef VIPER_SRC_WRITER_H
#define VIPER_SRC_WRITER_H

#include <stdatomic.h>

#include "crash.h"
#include "pool.h"
#include "viper/writer.h"

typedef _Atomic uint64_t vp_word;

typedef struct {
    uint64_t at; /* offset in the arena */
    uint64_t before;
} vp_undo_entry;

enum { VP_UNDO_PARTS = 28 };

/* Part n of the entries has room for VP_UNDO_FIRST << n of them. */
struct vp_undo {
    vp_word length; /* entries that count */
    uint64_t owner;
    vp_word parts[VP_UNDO_PARTS]; /* offsets; 0: not there yet */
};

/* A cell that the slice has given up: of a size class on a free list, or an extent. */
typedef struct {
    vp_word *list; /* NULL: an extent */
    uint64_t at;
} vp_freed;

struct vp_writer {
    char *arena;
    vp_pool *pool;
    vp_undo *undo;
    uint64_t length, room;      /* entries that count, and for how many there is room */
    uint64_t promised;          /* of the room, what the commit needs */
    vp_undo_entry *next, *end;  /* of the part that is being filled */
    uint32_t part;
    vp_freed *freed;
    uint64_t freed_count, freed_room;
    uint64_t *claimed; /* extents of this slice, by their offsets */
    uint64_t claimed_count, claimed_room;
};

static inline uint64_t vp_read(const vp_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed); /* the writer's own */
}

/* Goes on in the next part of the log, which is there. */
void vp_writer_turn_over(vp_writer *writer);

/* Makes sure of room for so many further words: 0, or VP_NO_ROOM. */
int vp_writer_grow(vp_writer *writer, uint64_t words);

static inline int vp_writer_reserve(vp_writer *writer, uint64_t words)
{
    return writer->room - writer->length >= writer->promised + words ? 0 : vp_writer_grow(writer, words);
}

/* Writes a word for which room is reserved. */
static inline void vp_write(vp_writer *writer, vp_word *word, uint64_t value)
{
    if (writer->next == writer->end)
        vp_writer_turn_over(writer);
    writer->next->at = (uint64_t)((char *)word - writer->arena);
    writer->next->before = vp_read(word);
    writer->next++;
    VP_CRASH_POINT("write: noted");
    atomic_signal_fence(memory_order_seq_cst); /* the entry, then that it counts, then the word */
    atomic_store_explicit(&writer->undo->length, ++writer->length, memory_order_relaxed);
    VP_CRASH_POINT("write: counted");
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(word, value, memory_order_relaxed);
    VP_CRASH_POINT("write: written");
}

/* Claims an extent of so many blocks that goes back unless the slice is committed: its offset, or 0. Leaves room for
 * one word, as vp_writer_free does. */
uint64_t vp_writer_claim(vp_writer *writer, uint32_t owner, uint64_t blocks);

/* Gives up, when the slice is committed, an extent (list is NULL), or a cell that goes onto a free list: 0, or
 * VP_NO_ROOM. */
int vp_writer_free(vp_writer *writer, vp_word *list, uint64_t at);

#endif
