/* The heap: the memory of one key group of a component, in cells of powers of two.
 *
 * Small cells are carved from chunks, and free ones wait in a list for each size; large ones are extents of the pool.
 * What is freed in a slice is used again after its commit.
 */
#ifndef VIPER_HEAP_H
#define VIPER_HEAP_H

#include "viper/writer.h"

typedef struct vp_heap vp_heap;

/* Bytes of a heap's fixed part. */
uint64_t vp_heap_size(void);

/* Makes an empty heap out of the zeroed region at an offset in an arena; its blocks belong to an owner. */
vp_heap *vp_heap_format(void *arena, uint64_t offset, uint32_t owner);

/* The offset in the arena of a cell of at least so many bytes, whatever they are; 0 if there is no room. */
uint64_t vp_heap_take(vp_writer *writer, vp_heap *heap, uint64_t bytes);

/* How many bytes a cell has that was taken for so many. It is the same for all numbers of bytes up to it, so that what
 * grows in its place is freed by the number that it has come to. */
uint64_t vp_heap_room(uint64_t bytes);

/* Frees a cell that was taken for so many bytes: 0, or VP_NO_ROOM. */
int vp_heap_free(vp_writer *writer, vp_heap *heap, uint64_t cell, uint64_t bytes);

/* Bytes that cells and free lists of the heap have of the pool. */
uint64_t vp_heap_bytes(const vp_heap *heap);

#endif
