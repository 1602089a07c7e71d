/* Whether bytes are ASCII, and so are texts wherever they are cut. */
#include "rows.h"

#include <string.h>

enum { BLOCK = 256 }; /* so much is looked at before the answer may be known, which lets compilers use vectors */

static uint64_t highest_bits(const unsigned char *data, size_t size)
{
    uint64_t found = 0, word = 0;
    for (; size >= sizeof word; data += sizeof word, size -= sizeof word) {
        memcpy(&word, data, sizeof word);
        found |= word;
    }
    word = 0;
    memcpy(&word, data, size);
    return (found | word) & 0x8080808080808080u;
}

PyObject *rows_is_ascii(PyObject *module, PyObject *buffer)
{
    (void)module;
    Py_buffer data;
    if (PyObject_GetBuffer(buffer, &data, PyBUF_SIMPLE))
        return NULL;
    const unsigned char *at = data.buf;
    size_t left = (size_t)data.len;
    uint64_t found = 0;
    for (; left >= BLOCK && !found; at += BLOCK, left -= BLOCK)
        found = highest_bits(at, BLOCK);
    if (!found && left)
        found = highest_bits(at, left);
    PyBuffer_Release(&data);
    return PyBool_FromLong(!found);
}
