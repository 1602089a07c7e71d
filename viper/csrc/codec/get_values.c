/* Reading single values from bytes; codec.h has their form. */
#include "get.h"

#include "codec.h"

static PyObject *get_ascii(Input *input)
{
    const char *head = take(input, 1);
    size_t length = head == NULL ? 0 : (unsigned char)*head;
    const char *text = head == NULL ? NULL : take(input, length);
    if (text == NULL || !check_ascii(text, length))
        return NULL;
    if (length - 1 >= REMEMBERED || !memory_asks(input->memory, HABITS, 1))
        return new_ascii(text, length);
    Key key = key_of(ASCII_VALUE, text, length, (size_t)(input->end - text));
    Place *place = memory_find(input->memory, key, text, length);
    if (place != NULL)
        return Py_NewRef(place->value);
    PyObject *made = new_ascii(text, length);
    if (made != NULL)
        memory_keep(input->memory, key, made, NULL);
    return made;
}

/* A text that lies where no character of its width may. */
static PyObject *new_unaligned(int width, const char *text, size_t length)
{
    uint32_t few[64];
    size_t size = length * (size_t)width;
    void *aligned = size <= sizeof few ? few : PyMem_Malloc(size);
    if (aligned == NULL)
        return PyErr_NoMemory();
    memcpy(aligned, text, size);
    PyObject *made = PyUnicode_FromKindAndData(width, aligned, (Py_ssize_t)length);
    if (aligned != few)
        PyMem_Free(aligned);
    return made;
}

PyObject *get_wide(int width, const char *text, size_t length)
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
    return text == NULL ? NULL : get_wide((int)width, text, (size_t)length);
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

PyObject *get_value(Input *input, int depth)
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

PyObject *get_values(Input *input, uint32_t arity, int depth)
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
