/* How a heap lies in the arena. All its words go back with a slice. */
#ifndef VIPER_SRC_HEAP_H
#define VIPER_SRC_HEAP_H

#include "viper/heap.h"
#include "writer.h"

/* Cells of 16 bytes, 32 ... up to half a block. */
enum { VP_CELL_BITS = 4, VP_HEAP_CLASSES = 10 };

struct vp_heap {
    uint64_t owner;
    vp_word bytes;                 /* of its extents */
    vp_word next, end;             /* what is left of the chunk: offsets */
    vp_word free[VP_HEAP_CLASSES]; /* the first free cell; it begins with the offset of the next one */
};

_Static_assert((1 << (VP_CELL_BITS + VP_HEAP_CLASSES)) == VP_POOL_BLOCK, "larger cells are extents");

#endif
