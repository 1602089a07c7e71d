/* Words that go back: the undo log of a group of shared tables. In the order of writer.h: the entry, then that it
 * counts, then the word.
 */
#ifndef VIPER_SRC_TXUNDO_H
#define VIPER_SRC_TXUNDO_H

#include "crash.h"
#include "shared.h"

typedef struct {
    uint64_t at; /* offset in the arena */
    uint64_t before;
} vp_txbefore;

/* Where old values go. How many count is passed from call to call, as it is kept in a processor's register. */
typedef struct {
    char *arena;
    vp_txbefore *entries;
    vp_word *length;
} vp_txundo;

/* Writes a word, for whose entry there is room, and returns how many entries count then. */
static inline uint64_t vp_undo_write(vp_txundo undo, uint64_t length, vp_word *word, uint64_t value)
{
    undo.entries[length] = (vp_txbefore){(uintptr_t)word - (uintptr_t)undo.arena, vp_row_word(word)};
    VP_CRASH_POINT("undo: noted");
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(undo.length, ++length, memory_order_relaxed);
    VP_CRASH_POINT("undo: counted");
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(word, value, memory_order_relaxed);
    VP_CRASH_POINT("undo: written");
    return length;
}

/* Gives the words of all entries from `from` on their old values, from the last to the first, and returns `from`. */
static inline uint64_t vp_undo_back(vp_txundo undo, uint64_t length, uint64_t from)
{
    while (length > from) {
        const vp_txbefore *entry = &undo.entries[length - 1];
        atomic_store_explicit((vp_word *)((uintptr_t)undo.arena + entry->at), entry->before, memory_order_relaxed);
        VP_CRASH_POINT("undo: back");
        atomic_signal_fence(memory_order_seq_cst);
        atomic_store_explicit(undo.length, --length, memory_order_relaxed);
    }
    return length;
}

#endif
