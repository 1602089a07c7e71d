/* A reader's side of one ring: a cursor that is private to the reader. */
#ifndef VIPER_READER_H
#define VIPER_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

typedef struct {
    vp_ring *ring;
    vp_head *own;
    uint64_t slot;      /* number of the jumbo tuple it stands in, or waits for */
    uint64_t published; /* the producer's tail as last looked at */
    uint64_t released;  /* the head that the producer was told */
    uint32_t taken;     /* tuples taken of the jumbo tuple it stands in */
    vp_position bound;  /* of the next tuple, or a position below which none will come */
} vp_reader;

/* Begins where the last reader of that index released. */
vp_reader vp_reader_of(vp_ring *ring, uint32_t index);

static inline bool vp_reader_has_tuple(const vp_reader *reader)
{
    return reader->slot != reader->published;
}

/* Looks at the ring anew; only while no tuple waits. Returns whether bound grew or a tuple came. */
bool vp_reader_refresh(vp_reader *reader);

/* The positions left of the jumbo tuple it stands in, at least one; only while a tuple waits. */
const vp_position *vp_reader_positions(const vp_reader *reader, uint32_t *count);

/* Takes the first `count` of those. */
void vp_reader_advance(vp_reader *reader, uint32_t count);

/* Stands where so many tuples of the ring's whole life have been taken, at least one less than now; none of those
 * behind was released. */
void vp_reader_go_back(vp_reader *reader, uint64_t delivered);

/* Gives back the slots and positions of all jumbo tuples that were taken to their end. */
void vp_reader_release(vp_reader *reader);

/* Gives back what lies before `head`, for the reader or, once it is dead, for whoever acts in its place. */
void vp_head_release(vp_ring *ring, vp_head *own, uint64_t head);

#endif
