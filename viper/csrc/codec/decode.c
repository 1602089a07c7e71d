/* Reading rows from bytes; codec.h has their form.
 *
 * Short texts come again and again in a stream (words, keys, names). The decoder keeps the latest of them
 * by their bytes, so that most are neither allocated nor hashed a second time.
 */
#include "rows/rows.h" /* first, as Python.h wants it */

#include <string.h>

#include "codec.h"

enum { REMEMBERED = 32, MEMORY = 4096 }; /* bytes of a text that is kept; how many are */

typedef struct {
    PyObject_HEAD
    PyObject *texts[MEMORY]; /* by a hash of their bytes */
} Decoder;

typedef struct {
    const char *next, *end;
    Decoder *decoder;
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

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = length * UINT64_C(0x9E3779B97F4A7C15);
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < length; i++)
        rest = rest << 8 | (unsigned char)text[i];
    hash = (hash ^ rest) * UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

static PyObject *new_ascii(const char *text, size_t length)
{
    PyObject *made = PyUnicode_New((Py_ssize_t)length, 127);
    if (made != NULL)
        memcpy(PyUnicode_1BYTE_DATA(made), text, length);
    return made;
}

static PyObject *get_ascii(Input *input)
{
    const char *head = take(input, 1);
    size_t length = head == NULL ? 0 : (unsigned char)*head;
    const char *text = head == NULL ? NULL : take(input, length);
    if (text == NULL)
        return NULL;
    if (length > REMEMBERED || length == 0) /* there is but one empty text */
        return new_ascii(text, length);
    PyObject **place = &input->decoder->texts[hash_of(text, length) % MEMORY];
    PyObject *known = *place;
    if (known != NULL && (size_t)PyUnicode_GET_LENGTH(known) == length &&
        memcmp(PyUnicode_1BYTE_DATA(known), text, length) == 0)
        return Py_NewRef(known);
    PyObject *made = new_ascii(text, length);
    if (made != NULL)
        Py_XSETREF(*place, Py_NewRef(made));
    return made;
}

/* A text that lies where no character of its width may. */
static PyObject *new_unaligned(int width, const char *text, size_t length)
{
    void *aligned = PyMem_Malloc(length * (size_t)width);
    if (aligned == NULL)
        return PyErr_NoMemory();
    memcpy(aligned, text, length * (size_t)width);
    PyObject *made = PyUnicode_FromKindAndData(width, aligned, (Py_ssize_t)length);
    PyMem_Free(aligned);
    return made;
}

static PyObject *new_text(int width, const char *text, size_t length)
{
    if ((uintptr_t)text % (uintptr_t)width)
        return new_unaligned(width, text, length);
    return PyUnicode_FromKindAndData(width, text, (Py_ssize_t)length);
}

static PyObject *get_text(Input *input)
{
    const char *head = take(input, 9);
    if (head == NULL)
        return NULL;
    uint64_t length;
    memcpy(&length, head + 1, 8);
    size_t width = (unsigned char)*head;
    if (width != PyUnicode_1BYTE_KIND && width != PyUnicode_2BYTE_KIND && width != PyUnicode_4BYTE_KIND) {
        PyErr_Format(PyExc_ValueError, "an encoded text has %zu bytes per character, expected 1, 2 or 4", width);
        return NULL;
    }
    if (length > (uint64_t)PY_SSIZE_T_MAX / 4) {
        PyErr_SetString(PyExc_ValueError, "an encoded text is longer than any text");
        return NULL;
    }
    const char *text = take(input, (size_t)length * width);
    return text == NULL ? NULL : new_text((int)width, text, (size_t)length);
}

static PyObject *get_bytes(Input *input)
{
    const char *head = take(input, 8);
    if (head == NULL)
        return NULL;
    uint64_t size;
    memcpy(&size, head, 8);
    const char *content = take(input, (size_t)size);
    return content == NULL ? NULL : PyBytes_FromStringAndSize(content, (Py_ssize_t)size);
}

static PyObject *get_values(Input *input, uint32_t arity, int depth);

static PyObject *get_number(Input *input, uint8_t tag)
{
    union {
        int8_t small;
        int32_t middle;
        int64_t large;
        double real;
    } number;
    size_t size = tag == TAG_INT8 ? 1 : tag == TAG_INT32 ? 4 : 8;
    const char *content = take(input, size);
    if (content == NULL)
        return NULL;
    memcpy(&number, content, size);
    switch (tag) {
    case TAG_INT8:
        return PyLong_FromLong(number.small);
    case TAG_INT32:
        return PyLong_FromLong(number.middle);
    case TAG_INT64:
        return PyLong_FromLongLong(number.large);
    default:
        return PyFloat_FromDouble(number.real);
    }
}

static PyObject *get_tuple(Input *input, int depth)
{
    if (depth >= DEEPEST) {
        PyErr_Format(PyExc_ValueError, "encoded tuples lie deeper than %d within each other", DEEPEST);
        return NULL;
    }
    const char *head = take(input, 4);
    if (head == NULL)
        return NULL;
    uint32_t arity;
    memcpy(&arity, head, 4);
    return get_values(input, arity, depth + 1);
}

static PyObject *get_value(Input *input, int depth)
{
    const char *tag = take(input, 1);
    if (tag == NULL)
        return NULL;
    switch ((uint8_t)*tag) {
    case TAG_ASCII:
        return get_ascii(input);
    case TAG_INT8:
    case TAG_INT32:
    case TAG_INT64:
    case TAG_FLOAT:
        return get_number(input, (uint8_t)*tag);
    case TAG_NONE:
        return Py_NewRef(Py_None);
    case TAG_FALSE:
        return Py_NewRef(Py_False);
    case TAG_TRUE:
        return Py_NewRef(Py_True);
    case TAG_TEXT:
        return get_text(input);
    case TAG_BYTES:
        return get_bytes(input);
    case TAG_TUPLE:
        return get_tuple(input, depth);
    default:
        PyErr_Format(PyExc_ValueError, "no encoded value begins with %d", *tag);
        return NULL;
    }
}

static PyObject *get_values(Input *input, uint32_t arity, int depth)
{
    if (arity > (size_t)(input->end - input->next)) {
        PyErr_SetString(PyExc_ValueError, "an encoded row has more values than bytes");
        return NULL;
    }
    PyObject *values = PyTuple_New(arity);
    for (uint32_t i = 0; values != NULL && i < arity; i++) {
        PyObject *value = get_value(input, depth);
        if (value == NULL)
            Py_CLEAR(values);
        else
            PyTuple_SET_ITEM(values, i, value);
    }
    return values;
}

static PyObject *get_row(Input *input, uint32_t arity)
{
    if (arity == VARIES) {
        const char *head = take(input, 4);
        if (head == NULL)
            return NULL;
        memcpy(&arity, head, 4);
    }
    return get_values(input, arity, 0);
}

/* A row if any bit of its mask is set in `mine`, else None. */
static PyObject *get_addressed(Input *input, uint32_t arity, uint64_t mine)
{
    const char *envelope = take(input, ENVELOPE);
    if (envelope == NULL)
        return NULL;
    uint64_t mask;
    uint32_t size;
    memcpy(&mask, envelope, 8);
    memcpy(&size, envelope + 8, 4);
    if (mask & mine)
        return get_row(input, arity);
    return take(input, size) == NULL ? NULL : Py_NewRef(Py_None);
}

/* All rows; or addressed ones, as far as they concern `mine`. */
static PyObject *get_rows(Input *input, const uint64_t *mine)
{
    uint32_t head[2];
    const char *at = take(input, sizeof head);
    if (at == NULL)
        return NULL;
    memcpy(head, at, sizeof head);
    if (head[0] > (size_t)(input->end - input->next) + (head[1] == 0 ? head[0] : 0)) {
        PyErr_SetString(PyExc_ValueError, "there are more encoded rows than bytes");
        return NULL;
    }
    PyObject *rows = PyList_New(head[0]);
    for (uint32_t i = 0; rows != NULL && i < head[0]; i++) {
        PyObject *row = mine == NULL ? get_row(input, head[1]) : get_addressed(input, head[1], *mine);
        if (row == NULL)
            Py_CLEAR(rows);
        else
            PyList_SET_ITEM(rows, i, row);
    }
    return rows;
}

PyDoc_STRVAR(decode_doc, "decode(buffer) -> rows: what `encode_rows` made bytes of.");

static PyObject *decoded(Decoder *self, PyObject *buffer, const uint64_t *mine)
{
    Py_buffer view;
    if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE))
        return NULL;
    Input input = {view.buf, (const char *)view.buf + view.len, self};
    PyObject *rows = get_rows(&input, mine);
    PyBuffer_Release(&view);
    return rows;
}

static PyObject *decoder_decode(Decoder *self, PyObject *buffer)
{
    return decoded(self, buffer, NULL);
}

PyDoc_STRVAR(decode_addressed_doc,
             "decode_addressed(buffer, mine) -> rows: what `encode_addressed` made bytes of, with None in the place of rows\n"
             "whose mask has no bit in common with `mine`.");

static PyObject *decoder_decode_addressed(Decoder *self, PyObject *args)
{
    PyObject *buffer;
    unsigned long long mine;
    if (!PyArg_ParseTuple(args, "OK", &buffer, &mine))
        return NULL;
    return decoded(self, buffer, &(uint64_t){mine});
}

static int decoder_clear(Decoder *self)
{
    for (int i = 0; i < MEMORY; i++)
        Py_CLEAR(self->texts[i]);
    return 0;
}

static void decoder_dealloc(Decoder *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    decoder_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef decoder_methods[] = {
    {"decode", (PyCFunction)decoder_decode, METH_O, decode_doc},
    {"decode_addressed", (PyCFunction)decoder_decode_addressed, METH_VARARGS, decode_addressed_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, "Decoder(): reads encoded rows; for one thread."},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, decoder_methods},
    {0, NULL},
};

PyType_Spec rows_decoder_spec = {"viper._rows.Decoder", sizeof(Decoder), 0, Py_TPFLAGS_DEFAULT, decoder_slots};
