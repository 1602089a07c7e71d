/* Bytes that are read, and single values from bytes. */
#ifndef VIPER_GET_H
#define VIPER_GET_H

#include "memory.h"

typedef struct {
    const char *next, *end;
    Memory *memory;
} Input;

/* The next `size` bytes; NULL, with an error, beyond the end. */
static inline const char *take(Input *input, size_t size)
{
    if (size > (size_t)(input->end - input->next)) {
        PyErr_SetString(PyExc_ValueError, "encoded rows end before their last value");
        return NULL;
    }
    const char *at = input->next;
    input->next += size;
    return at;
}

static inline int is_ascii(const char *text, size_t length)
{
    uint64_t found = 0, word = 0;
    for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
        memcpy(&word, text, sizeof word);
        found |= word;
    }
    for (; length; text++, length--)
        found |= (unsigned char)*text;
    return (found & UINT64_C(0x8080808080808080)) == 0;
}

/* 0, with an error, where characters are not ASCII. */
static inline int check_ascii(const char *text, size_t length)
{
    if (is_ascii(text, length))
        return 1;
    PyErr_SetString(PyExc_ValueError, "an encoded text of ASCII has other characters");
    return 0;
}

/* A text of characters that have been checked. */
static inline PyObject *new_ascii(const char *text, size_t length)
{
    PyObject *made = PyUnicode_New((Py_ssize_t)length, 127);
    if (made != NULL)
        memcpy(PyUnicode_1BYTE_DATA(made), text, length);
    return made;
}

/* A text of so many characters of so many bytes each, wherever it lies. */
PyObject *get_wide(int width, const char *text, size_t length);

/* The value with its tag that comes next, or a tuple of so many; NULL with an error set. */
PyObject *get_value(Input *input, int depth);
PyObject *get_values(Input *input, uint32_t arity, int depth);

/* Rows in columns, behind their number and arity; NULL with an error set. */
PyObject *get_columns(Input *input, uint32_t rows, uint32_t arity);

#endif
