/* The forest: trees of tracked tuples, from the tuple that a spout emits with an id to all that descend
 * from it.
 *
 * A tree counts its outstanding tuples. Whoever hands a tuple on to n tasks adds n before that; whoever is
 * done with one takes 1, after what was emitted for it was added. So the count falls to 0 once, when all have
 * been processed, and the tree's owner learns that it was acked. It may fail before that, for a reason that
 * only the owner and who fails it understand. All of this any task of any process can do.
 *
 * Of the outstanding tuples some are held: in the hands of a task that has returned from processing them
 * without an answer. A tree all of whose tuples are held is stalled: only a late answer moves it.
 *
 * A tree with parents is a joint, made for a tuple that belongs to several trees. Each parent counts it as
 * one tuple: acked when the joint is, failed with it, and held while the joint is stalled.
 *
 * There is one table of trees for each task that owns some. Its functions, vp_table_*, are for that task's
 * thread, or, once that is dead, for whoever acts in its place; what they tell of are roots, as nobody waits
 * for a joint. A dead worker leaves counts too high, never too low: after its death vp_forest_incident tells
 * all owners to end what is open.
 */
#ifndef VIPER_FOREST_H
#define VIPER_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/position.h"

/* Why a tree failed, where nobody said so: it had more tuples than can be counted. */
#define VP_TREE_TOO_LARGE UINT32_C(0xffffffff)
/* Likewise: it was anchored to a joint that was open at an incident. */
#define VP_TREE_LOST UINT32_C(0xfffffffe)

typedef struct vp_forest vp_forest;
typedef struct vp_table vp_table;

/* At least 1 table and tree; tables up to 2^16, trees up to 2^22 and links up to 2^31 in each table. A link is
 * one parent of one joint. */
typedef struct {
    uint32_t tables, trees, links;
} vp_forest_shape;

/* Trees that have ended, and how: 0, acked, or the reason that they failed for. A growable array. */
typedef struct {
    uint64_t *trees;
    uint32_t *reasons;
    uint64_t length, capacity;
} vp_endings;

/* Why there is no joint; VP_NO_MEMORY is another reason. */
enum { VP_FOREST_FULL = -3 };

/* Bytes that a forest takes. */
uint64_t vp_forest_size(vp_forest_shape shape);

/* Makes a forest out of the zeroed region at an offset in an arena; touches no trees, no links. */
vp_forest *vp_forest_format(void *arena, uint64_t offset, vp_forest_shape shape);

/* The forest at an offset in an arena; NULL if none was made there, or not all of it lies in what was
 * allocated. */
vp_forest *vp_forest_at(void *arena, uint64_t offset);

/* -- for everybody */

uint32_t vp_forest_tables(const vp_forest *forest);

/* [first, first + count) get so many outstanding tuples more in the tree of each, if it has one. False, and
 * nothing done, if they do not lie within the positions. */
bool vp_forest_add(vp_forest *forest, const vp_positions *positions, uint64_t first, uint64_t count, uint32_t copies);

/* Likewise: each is done with. */
bool vp_forest_ack(vp_forest *forest, const vp_positions *positions, uint64_t first, uint64_t count);

/* One tuple of each tree is done with. */
void vp_forest_ack_trees(vp_forest *forest, const uint64_t *trees, uint64_t count);

/* Fails a tree for a reason other than 0; whether it was alive. */
bool vp_forest_fail(vp_forest *forest, uint64_t tree, uint32_t reason);

/* One of its outstanding tuples is held; is no longer held; is done with that was held. */
void vp_forest_hold(vp_forest *forest, uint64_t tree);
void vp_forest_unhold(vp_forest *forest, uint64_t tree);
void vp_forest_answer_held(vp_forest *forest, uint64_t tree);

bool vp_forest_alive(const vp_forest *forest, uint64_t tree);

/* A worker has died: counts it, and rings all bells. */
void vp_forest_incident(vp_forest *forest);
uint64_t vp_forest_incidents(const vp_forest *forest);

/* Rings a bell, named by its offset in the arena, when a tree of the table ends; 0 is none. */
void vp_forest_set_bell(vp_forest *forest, uint32_t table, uint64_t bell);

/* -- for the owner of a table */

vp_table *vp_forest_table(vp_forest *forest, uint32_t table);

/* NULL if there is no memory. */
vp_endings *vp_endings_new(void);
void vp_endings_free(vp_endings *endings);

/* New roots, with one outstanding tuple each, which keeps them open until it is acked. Returns how many there
 * is room for. */
uint32_t vp_table_begin(vp_table *table, uint32_t count, uint64_t *trees);

/* A new joint of those of the parents that live, with one outstanding tuple, as above. Puts the parents in
 * order. Returns the joint, 0 if no parent lives, or why there is none. */
int64_t vp_table_join(vp_table *table, uint64_t *parents, uint64_t count);

/* Whether a tree has ended that was not taken yet. */
bool vp_table_has_done(const vp_table *table);

/* Appends the roots that have ended, in order, and forgets them. Returns how many, or VP_NO_MEMORY. */
int64_t vp_table_take(vp_table *table, vp_endings *endings);

/* A sweep: ends and appends, with the reason 0, all roots that have been stalled since the sweep before. Also
 * forgets joints that nobody needs. Returns how many, or VP_NO_MEMORY. */
int64_t vp_table_expire(vp_table *table, vp_endings *endings);

/* After an incident: takes, then ends whatever is open, and appends it with the reason 0; joints fail their
 * parents. Returns how many were taken, or VP_NO_MEMORY. */
int64_t vp_table_fail_all(vp_table *table, vp_endings *endings);

/* For the successor of a dead owner, before anything else: as above, and sets right what that left unfinished.
 * Returns how many roots were open. */
uint64_t vp_table_reset(vp_table *table);

/* Roots begun, and neither taken nor ended. */
uint64_t vp_table_open(const vp_table *table);

#endif
