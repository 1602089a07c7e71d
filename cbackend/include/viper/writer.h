/* The writer: one task's way to change words of a run's state so that a slice happens as a whole or not at all.
 *
 * Before a word changes, its old value goes into the task's undo log, which lies in the arena as the words do. A
 * commit is one store, which empties the log. When the task's process dies, whoever opens the writer next plays the
 * log back, and finds every word as it was at the last commit. No barrier of the processor is needed for that: who
 * learns of a death sees every store that the dead one executed, in their order, so compilers alone must not change it.
 *
 * What a slice gives up may be used again only after its commit, as an undo would need what was there. A savepoint
 * marks a place to go back to within a slice.
 */
#ifndef VIPER_WRITER_H
#define VIPER_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/pool.h"

/* The least room for old values that a log begins with; it doubles as it grows. */
#define VP_UNDO_FIRST 4096

typedef struct vp_undo vp_undo;     /* the log: in the arena */
typedef struct vp_writer vp_writer; /* private to a process */

/* A place in a slice. */
typedef struct {
    uint64_t length, freed, claimed;
} vp_savepoint;

/* Why nothing was changed: the pool has no block left, or the process no memory. */
enum { VP_NO_ROOM = -4 };

/* Bytes of a log's fixed part. */
uint64_t vp_undo_size(void);

/* Makes an empty log out of the zeroed region at an offset in an arena; the blocks for its entries belong to an owner. */
vp_undo *vp_undo_format(void *arena, uint64_t offset, uint32_t owner);

/* Opens a log for writing, and plays back what is in it: then every word is as at the last commit. Of the owners for
 * whom `owned` is not 0, all that a dead writer left half claimed or half given back goes back to the pool. Must be
 * called by one task at a time. NULL if memory ran out; then nothing that was not there before is lost. */
vp_writer *vp_writer_open(void *arena, vp_pool *pool, vp_undo *undo, const uint8_t *owned, uint64_t owner_count);

/* Ends the use of a log, and goes back to the last commit. */
void vp_writer_close(vp_writer *writer);

/* Ends the use of a log without a look at the arena, which may be gone: as the death of a process would. */
void vp_writer_abandon(vp_writer *writer);

/* Writes a word at an offset in the arena; VP_NO_ROOM if the log cannot grow. */
int vp_writer_write(vp_writer *writer, uint64_t offset, uint64_t value);

/* Where the slice has come to. */
vp_savepoint vp_writer_savepoint(const vp_writer *writer);

/* Goes back to a place in this slice. */
void vp_writer_back(vp_writer *writer, vp_savepoint place);

/* Makes all that was written since the last commit last. */
void vp_writer_commit(vp_writer *writer);

/* Words that were written since the last commit, those that were written several times counted as often. */
uint64_t vp_writer_written(const vp_writer *writer);

#endif
