/* Bytes of any length in two words.
 *
 * Up to 15 of them lie in the words themselves, whose last byte says how many; of more, the first word has the offset
 * of a cell, and the second one their number and a last byte of 255.
 */
#ifndef VIPER_SRC_BYTES_H
#define VIPER_SRC_BYTES_H

#include "few.h"
#include "viper/keyed.h"
#include "writer.h"

struct vp_bytes {
    vp_word words[2];
};

_Static_assert(sizeof(vp_bytes) == VP_BYTES_INLINE + 1, "the last byte is for the length");
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the last byte in memory must be the upper one of the second word"
#endif

static const uint64_t VP_BYTES_LENGTH = (UINT64_C(1) << 56) - 1;

static inline bool vp_bytes_are_apart(const vp_bytes *bytes)
{
    return vp_read(&bytes->words[1]) >> 56 == 255;
}

/* The words of bytes that lie in them. */
static inline void vp_bytes_pack(uint64_t words[2], const void *data, uint64_t length)
{
    words[0] = words[1] = 0;
    vp_copy_few(words, data, length);
    words[1] |= length << 56;
}

static inline const uint8_t *vp_bytes_at(const char *arena, const vp_bytes *bytes, uint64_t *length)
{
    uint64_t last = vp_read(&bytes->words[1]);
    if (last >> 56 != 255) {
        *length = last >> 56;
        return (const uint8_t *)bytes;
    }
    *length = last & VP_BYTES_LENGTH;
    return (const uint8_t *)arena + vp_read(&bytes->words[0]);
}

/* Frees what they have of the heap: 0, or VP_NO_ROOM. The words stay. */
int vp_bytes_free(vp_writer *writer, vp_heap *heap, vp_bytes *bytes);

#endif
