/* Positions: where a tuple stands in the one order that all tasks agree on.
 *
 * A position is (ts, path), compared lexicographically, ts signed. The 128 bits of the path, hi
 * above lo, are divided into levels from the top down, one per hop of the topology. Seen from its
 * highest bit, a level is
 *
 *     | tag: who emitted | ordinal: the index of the output, from 1 | levels below, zero as yet |
 *                                                                  ^ offset
 *
 * The ordinal of all ones is reserved. An output that would need it, or a greater one, saturates:
 * its tag, its ordinal and everything below become ones. So do all outputs after it, and outputs
 * of a saturated position keep that position. Order therefore never breaks; it only becomes
 * coarser, and every position made that way is counted.
 *
 * Beside its place a position carries the tree of tracked tuples that it belongs to, and hands it on to
 * its outputs.
 */
#ifndef VIPER_POSITION_H
#define VIPER_POSITION_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t ts;
    uint64_t hi, lo;
    uint64_t tree; /* of tracked tuples that it belongs to, see forest.h; 0: none. Takes no part in the order */
} vp_position;

/* Needs ordinal_bits and tag_bits below 64, and offset + ordinal_bits + tag_bits at most 128.
 * A tag with more than tag_bits bits has no place, and saturates every output. */
typedef struct {
    uint32_t offset, ordinal_bits, tag_bits;
    uint64_t tag;
} vp_level;

/* Places at equal distances, in ts and in the path as one number of 128 bits: those of inputs, a step from one to the
 * next, and below each those of its outputs, a unit from one to the next. None has a tree. */
typedef struct {
    vp_position origin, step, unit;
} vp_line;

/* Which places of a line positions have. Without bits it is the first one of each input, from the origin on. Else the
 * bits [first_bit, end_bit) tell it from the lowest of each word upwards: a one for each position, and a zero behind
 * those of each input. Both end bits are ones. */
typedef struct {
    vp_line line;
    const uint64_t *bits;
    uint64_t first_bit, end_bit;
    uint64_t skipped; /* outputs of the first input that stand before the first position */
} vp_places;

/* A growable array. The functions on it append to `out`. */
typedef struct {
    vp_position *data; /* each position by itself, unless they are on a line */
    uint64_t length, capacity;
    bool is_line; /* if there are any */
    vp_places places;
    uint64_t *words; /* of the bits */
    uint64_t word_capacity;
} vp_positions;

/* How many outputs each of some inputs has. */
typedef struct {
    const uint32_t *ends; /* those of an input go from the end of the one before it, or 0, to its own */
    const uint64_t *kept; /* without ends: an input has one if its bit is set, from the lowest of each word upwards; NULL:
                             each has one */
} vp_outputs;

/* What a source of timestamped tuples remembers. It starts as {INT64_MIN, 0, 0}. */
typedef struct {
    int64_t ts;           /* of the latest tuple */
    uint64_t ordinal;     /* how many tuples had that ts so far */
    uint64_t overflowed;  /* how many were placed by saturation, ever */
} vp_clock;

/* NULL if there is no memory. */
vp_positions *vp_positions_new(void);
void vp_positions_free(vp_positions *positions);

/* What the functions below return instead of 0 or a count; `out` is as before, except where they
 * ran out of memory half-way through a scatter. */
enum { VP_NO_MEMORY = -1, VP_ENDS_DESCEND = -2, VP_OUT_OF_RANGE = -3 };

/* Makes positions on a line positions apart; 0, or VP_NO_MEMORY. */
int vp_positions_apart(vp_positions *positions);

/* The position at an index, which must lie within. */
vp_position vp_positions_at(const vp_positions *positions, uint64_t index);

/* The timestamp of the last position, INT64_MIN without any. */
int64_t vp_positions_last_ts(const vp_positions *positions);

int vp_positions_append(vp_positions *out, vp_position position);

/* [first, first + count) must lie within `from`, which may be `out` itself. */
int vp_positions_extend(vp_positions *out, const vp_positions *from, uint64_t first, uint64_t count);

/* The outputs of parents[first, first + count), of which `outputs` tells. Ordinals go on after first_ordinal for the
 * first parent, and start at 1 for each that differs from the one before it above the level; parents that are equal
 * there share one count. Parents that do not descend give outputs that do not descend.
 * Returns how many outputs were placed by saturation. */
int64_t vp_positions_children(vp_positions *out, vp_positions *parents, uint64_t first, uint64_t count,
                              const vp_outputs *outputs, uint64_t first_ordinal, vp_level level);

/* Numbers the positions from the end of a level's ordinals: the one with distance d gets the last ordinal that is not
 * reserved less d, and the first one, 1, where d is larger than that. Those that have saturated stay. There must be as
 * many positions as distances. Returns how many had a distance too large, or VP_NO_MEMORY: then nothing has changed. */
int64_t vp_positions_number(vp_positions *positions, const uint64_t *distances, vp_level level);

/* Tuple i has the timestamp first_ts + i, which must not overflow, and the ordinal 1. Returns how many
 * were placed by saturation: all, where the level has no room for that. */
int64_t vp_positions_logical(vp_positions *out, int64_t first_ts, uint64_t count, vp_level level);

/* Tuples with the given timestamps; those with the same one count up. Stops before the first that
 * lies behind its predecessor. Returns how many were placed. */
int64_t vp_positions_timed(vp_positions *out, const int64_t *ts, uint64_t count, vp_clock *clock, vp_level level);

/* Writes ts, hi and lo of all, 24 bytes each in native order: what a place is, without its tree. */
void vp_positions_pack(const vp_positions *positions, uint8_t *into);

/* The trees of [first, first + count), which must lie within. */
void vp_positions_trees(const vp_positions *positions, uint64_t first, uint64_t count, uint64_t *into);

/* Sets the trees of those at the given indexes, which are apart then: 0, VP_NO_MEMORY, or VP_OUT_OF_RANGE with some set,
 * where one of them is that. */
int vp_positions_set_trees(vp_positions *positions, const uint32_t *indexes, const uint64_t *trees, uint64_t count);

/* How many of [first, first + count), which must lie within, have no tree. */
uint64_t vp_positions_untracked(const vp_positions *positions, uint64_t first, uint64_t count);

/* Whether any from `first` on has a tree. */
bool vp_positions_tracked(const vp_positions *positions, uint64_t first);

/* Appends the positions of several arrays in one order: next that of from[order[i]] behind the last one taken
 * of it, of which the first is firsts[order[i]]; these go on. The arrays are apart then. 0, VP_NO_MEMORY, or
 * VP_OUT_OF_RANGE where an array has no more or there is none; then nothing has changed. */
int vp_positions_interleave(vp_positions *out, vp_positions *const *from, uint64_t *firsts, uint32_t from_count,
                            const uint16_t *order, uint64_t count);

/* Appends positions[i] to outs[targets[i]]; a target past the last out drops its position. */
int vp_positions_scatter(const vp_positions *positions, const uint16_t *targets, vp_positions *const *outs,
                         uint32_t out_count);

#endif
