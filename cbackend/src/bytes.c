#include "bytes.h"

const uint8_t *vp_bytes_get(const vp_writer *writer, const vp_bytes *bytes, uint64_t *length)
{
    return vp_bytes_at(writer->arena, bytes, length);
}

int vp_bytes_free(vp_writer *writer, vp_heap *heap, vp_bytes *bytes)
{
    if (!vp_bytes_are_apart(bytes))
        return 0;
    return vp_heap_free(writer, heap, vp_read(&bytes->words[0]), vp_read(&bytes->words[1]) & VP_BYTES_LENGTH);
}

int vp_bytes_set(vp_writer *writer, vp_heap *heap, vp_bytes *bytes, const void *data, uint64_t length)
{
    uint64_t words[2];
    if (length > VP_BYTES_LENGTH)
        return VP_NO_ROOM;
    if (length <= VP_BYTES_INLINE) {
        vp_bytes_pack(words, data, length);
    } else {
        words[0] = vp_heap_take(writer, heap, length);
        words[1] = UINT64_C(255) << 56 | length;
        if (!words[0])
            return VP_NO_ROOM;
        memcpy(writer->arena + words[0], data, length);
    }
    if (vp_bytes_free(writer, heap, bytes) || vp_writer_reserve(writer, 2))
        return VP_NO_ROOM;
    vp_write(writer, &bytes->words[0], words[0]);
    vp_write(writer, &bytes->words[1], words[1]);
    return 0;
}

/* Puts them into a cell that has room for more. */
static int move(vp_writer *writer, vp_heap *heap, vp_bytes *bytes, const void *data, uint64_t length)
{
    uint64_t before, cell;
    const uint8_t *from = vp_bytes_get(writer, bytes, &before);
    cell = vp_heap_take(writer, heap, before + length);
    if (!cell)
        return VP_NO_ROOM;
    memcpy(writer->arena + cell, from, before);
    memcpy(writer->arena + cell + before, data, length);
    if (vp_bytes_free(writer, heap, bytes) || vp_writer_reserve(writer, 2))
        return VP_NO_ROOM;
    vp_write(writer, &bytes->words[0], cell);
    vp_write(writer, &bytes->words[1], UINT64_C(255) << 56 | (before + length));
    return 0;
}

/* Bytes behind the length need no note in the log, as nobody looks at them before the length counts them. */
int vp_bytes_append(vp_writer *writer, vp_heap *heap, vp_bytes *bytes, const void *data, uint64_t length)
{
    uint64_t before;
    uint8_t brief[VP_BYTES_INLINE];
    const uint8_t *from = vp_bytes_get(writer, bytes, &before);
    if (!length)
        return 0;
    if (length > VP_BYTES_LENGTH - before)
        return VP_NO_ROOM;
    if (before + length <= VP_BYTES_INLINE) {
        memcpy(brief, from, before);
        memcpy(brief + before, data, length);
        return vp_bytes_set(writer, heap, bytes, brief, before + length);
    }
    if (!vp_bytes_are_apart(bytes) || before + length > vp_heap_room(before))
        return move(writer, heap, bytes, data, length);
    if (vp_writer_reserve(writer, 1))
        return VP_NO_ROOM;
    memcpy(writer->arena + vp_read(&bytes->words[0]) + before, data, length);
    VP_CRASH_POINT("append: copied");
    vp_write(writer, &bytes->words[1], UINT64_C(255) << 56 | (before + length));
    return 0;
}
