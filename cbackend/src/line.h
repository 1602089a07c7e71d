/* Positions on a line: so far apart from each other that a few words tell all of them, or a bit or two for each.
 *
 * What a source counts lies on a line, and so do outputs of inputs that lie on one. Where rows travel as columns,
 * making, copying and reading 32 bytes a row was most of what the layer cost: two thirds of a filter on three columns,
 * and half of a counter of words.
 */
#ifndef VIPER_LINE_H
#define VIPER_LINE_H

#include <stdbool.h>

#include "viper/position.h"

enum { VP_LEAST_ON_LINE = 16 }; /* fewer positions are not worth the difference */

static inline bool vp_positions_on_line(const vp_positions *positions)
{
    return positions->is_line && positions->length > 0;
}

/* The place of an output of an input, both counted from 0. */
vp_position vp_line_place(const vp_line *line, uint64_t input, uint64_t output);

/* A way along the positions. */
typedef struct {
    const vp_places *places;
    uint64_t bit, input, output; /* of the position that it has come to */
} vp_walk;

/* Begins at the position of an index among so many. */
vp_walk vp_walk_from(const vp_places *places, uint64_t length, uint64_t index);

/* Goes on to the next one, which there must be. */
void vp_walk_on(vp_walk *walk);

static inline vp_position vp_walk_place(const vp_walk *walk)
{
    return vp_line_place(&walk->places->line, walk->input, walk->output);
}

/* Positions [first, first + count) of so many; the bits are shared. `count` is above 0. */
vp_places vp_places_part(const vp_places *places, uint64_t length, uint64_t first, uint64_t count);

/* Writes so many positions, all that there are. */
void vp_places_write(const vp_places *places, uint64_t count, vp_position *into);

/* Whether so many bits are worth it for so many positions, which take no more memory then than by themselves. */
bool vp_places_fit(uint64_t bits, uint64_t count);

/* Writes so many positions, all that there are, into as many cells of a ring: the first and the last one into the first
 * and the last cell, where whoever looks for them finds them, and what tells the others in between. False, and nothing
 * written, where the bits do not fit. */
bool vp_places_pack(const vp_places *places, uint64_t count, vp_position *cells);

/* The places that such cells tell. */
vp_places vp_places_packed(const vp_position *cells);

#endif
