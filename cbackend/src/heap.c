/* Bytes of cells are written without a note in the log, as nobody looks at them before they are taken or after they are
 * freed, but for the first word of a free one, which the list needs when a slice goes back: so that word is
 * noted when the cell is taken. */
#include "heap.h"

#include <stddef.h>

enum { MOST_PER_CHUNK = 64 }; /* blocks */

uint64_t vp_heap_size(void)
{
    return sizeof(vp_heap);
}

vp_heap *vp_heap_format(void *arena, uint64_t offset, uint32_t owner)
{
    vp_heap *heap = (vp_heap *)((char *)arena + offset);
    *heap = (vp_heap){.owner = owner};
    return heap;
}

/* The size class of a cell; VP_HEAP_CLASSES and above are extents. */
static uint32_t class_of(uint64_t bytes)
{
    if (bytes <= 1 << VP_CELL_BITS)
        return 0;
    return 64 - (uint32_t)__builtin_clzll(bytes - 1) - VP_CELL_BITS;
}

static uint64_t claim(vp_writer *writer, vp_heap *heap, uint64_t blocks)
{
    uint64_t extent = vp_writer_reserve(writer, 2) ? 0 : vp_writer_claim(writer, (uint32_t)heap->owner, blocks);
    if (extent)
        vp_write(writer, &heap->bytes, vp_read(&heap->bytes) + blocks * VP_POOL_BLOCK);
    return extent;
}

/* Up to 15 blocks, and further by an eighth or less: what grows is seldom copied, and little is given away. */
static uint64_t blocks_of(uint64_t bytes)
{
    uint64_t blocks = (bytes + VP_POOL_BLOCK - 1) / VP_POOL_BLOCK;
    uint64_t step = blocks < 16 ? 1 : UINT64_C(1) << (60 - __builtin_clzll(blocks));
    return (blocks + step - 1) / step * step;
}

uint64_t vp_heap_room(uint64_t bytes)
{
    uint32_t class = class_of(bytes);
    return class < VP_HEAP_CLASSES ? UINT64_C(1) << (class + VP_CELL_BITS) : blocks_of(bytes) * VP_POOL_BLOCK;
}

/* Makes free cells of the rest of a chunk: of each size one at most, as the rest is smaller than the largest. */
static void use_up(vp_writer *writer, vp_heap *heap)
{
    uint64_t next = vp_read(&heap->next), end = vp_read(&heap->end);
    for (uint32_t class = VP_HEAP_CLASSES; class-- > 0;) {
        uint64_t size = UINT64_C(1) << (class + VP_CELL_BITS);
        if (end - next < size)
            continue;
        vp_write(writer, (vp_word *)(writer->arena + next), vp_read(&heap->free[class]));
        vp_write(writer, &heap->free[class], next);
        next += size;
    }
}

/* A chunk grows with its heap, to an eighth of it. */
static int new_chunk(vp_writer *writer, vp_heap *heap)
{
    uint64_t blocks = vp_read(&heap->bytes) / 8 / VP_POOL_BLOCK;
    blocks = blocks < 1 ? 1 : blocks > MOST_PER_CHUNK ? MOST_PER_CHUNK : blocks;
    uint64_t chunk = claim(writer, heap, blocks);
    if (!chunk || vp_writer_reserve(writer, 2 * VP_HEAP_CLASSES + 2))
        return VP_NO_ROOM;
    use_up(writer, heap);
    vp_write(writer, &heap->next, chunk);
    vp_write(writer, &heap->end, chunk + blocks * VP_POOL_BLOCK);
    return 0;
}

static uint64_t carve(vp_writer *writer, vp_heap *heap, uint64_t size)
{
    if (vp_read(&heap->end) - vp_read(&heap->next) < size && new_chunk(writer, heap))
        return 0;
    uint64_t cell = vp_read(&heap->next);
    if (vp_writer_reserve(writer, 1))
        return 0;
    vp_write(writer, &heap->next, cell + size);
    return cell;
}

uint64_t vp_heap_take(vp_writer *writer, vp_heap *heap, uint64_t bytes)
{
    uint32_t class = class_of(bytes);
    if (class >= VP_HEAP_CLASSES)
        return claim(writer, heap, blocks_of(bytes));
    uint64_t cell = vp_read(&heap->free[class]);
    if (!cell)
        return carve(writer, heap, UINT64_C(1) << (class + VP_CELL_BITS));
    if (vp_writer_reserve(writer, 2))
        return 0;
    vp_word *first = (vp_word *)(writer->arena + cell);
    vp_write(writer, &heap->free[class], vp_read(first));
    vp_write(writer, first, 0);
    return cell;
}

int vp_heap_free(vp_writer *writer, vp_heap *heap, uint64_t cell, uint64_t bytes)
{
    uint32_t class = class_of(bytes);
    if (class < VP_HEAP_CLASSES)
        return vp_writer_free(writer, &heap->free[class], cell);
    if (vp_writer_reserve(writer, 1) || vp_writer_free(writer, NULL, cell))
        return VP_NO_ROOM;
    vp_write(writer, &heap->bytes, vp_read(&heap->bytes) - blocks_of(bytes) * VP_POOL_BLOCK);
    return 0;
}

uint64_t vp_heap_bytes(const vp_heap *heap)
{
    return vp_read(&heap->bytes);
}
