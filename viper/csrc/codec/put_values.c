/* Writing single values as bytes; codec.h has their form. */
#include "put.h"

#include <string.h>

#include "codec.h"
#include "few.h"

static int begin(Buffer *buffer, size_t size)
{
    buffer->capacity = buffer->first_size + size;
    buffer->bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)buffer->capacity);
    if (buffer->bytes == NULL)
        return FAILED;
    buffer->data = PyBytes_AS_STRING(buffer->bytes);
    memcpy(buffer->data, buffer->first == NULL ? "" : buffer->first, buffer->first_size);
    buffer->length = buffer->first_size;
    return WRITTEN;
}

int bytes_grow(Buffer *buffer, size_t size)
{
    if (buffer->capacity == 0)
        return begin(buffer, size);
    buffer->capacity = 2 * buffer->capacity + size;
    if (_PyBytes_Resize(&buffer->bytes, (Py_ssize_t)buffer->capacity))
        return FAILED;
    buffer->data = PyBytes_AS_STRING(buffer->bytes);
    return WRITTEN;
}

PyObject *bytes_end(Buffer *buffer, int result)
{
    if (result == WRITTEN && buffer->length != buffer->capacity)
        _PyBytes_Resize(&buffer->bytes, (Py_ssize_t)buffer->length);
    if (result == WRITTEN)
        return buffer->bytes;
    Py_XDECREF(buffer->bytes);
    return result == FOREIGN ? Py_NewRef(Py_None) : NULL;
}

static inline int put(Buffer *buffer, uint8_t tag, const void *content, size_t size)
{
    char *at = bytes_room(buffer, 1 + size);
    if (at == NULL)
        return FAILED;
    *at = (char)tag;
    memcpy(at + 1, content, size);
    return WRITTEN;
}

static inline int put_sized(Buffer *buffer, uint8_t tag, const void *head, size_t head_size, const void *content,
                            size_t size)
{
    char *at = bytes_room(buffer, 1 + head_size + size);
    if (at == NULL)
        return FAILED;
    *at = (char)tag;
    memcpy(at + 1, head, head_size);
    vp_copy_few(at + 1 + head_size, content, size);
    return WRITTEN;
}

static int put_int(Buffer *buffer, PyObject *value)
{
    int64_t number;
    if (int_of(value, &number))
        return FOREIGN;
    if (number == (int8_t)number)
        return put(buffer, TAG_INT8, &(int8_t){(int8_t)number}, 1);
    if (number == (int32_t)number)
        return put(buffer, TAG_INT32, &(int32_t){(int32_t)number}, 4);
    return put(buffer, TAG_INT64, &number, 8);
}

static int put_text(Buffer *buffer, PyObject *value)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(value);
    if (PyUnicode_IS_COMPACT_ASCII(value) && length <= SHORT)
        return put_sized(buffer, TAG_ASCII, &(uint8_t){(uint8_t)length}, 1, PyUnicode_DATA(value), (size_t)length);
    char head[9] = {(char)PyUnicode_KIND(value)};
    memcpy(head + 1, &(uint64_t){(uint64_t)length}, 8);
    size_t size = (size_t)length * (size_t)PyUnicode_KIND(value);
    return put_sized(buffer, TAG_TEXT, head, sizeof head, PyUnicode_DATA(value), size);
}

int put_value(Buffer *buffer, PyObject *value, int depth)
{
    if (PyUnicode_CheckExact(value))
        return put_text(buffer, value);
    if (PyLong_CheckExact(value))
        return put_int(buffer, value);
    if (PyFloat_CheckExact(value))
        return put(buffer, TAG_FLOAT, &(double){PyFloat_AS_DOUBLE(value)}, sizeof(double));
    if (value == Py_None)
        return put(buffer, TAG_NONE, "", 0);
    if (PyBool_Check(value))
        return put(buffer, value == Py_True ? TAG_TRUE : TAG_FALSE, "", 0);
    if (PyBytes_CheckExact(value)) {
        uint64_t size = (uint64_t)PyBytes_GET_SIZE(value);
        return put_sized(buffer, TAG_BYTES, &size, 8, PyBytes_AS_STRING(value), (size_t)size);
    }
    if (PyTuple_CheckExact(value) && depth < DEEPEST && PyTuple_GET_SIZE(value) < VARIES) {
        uint32_t arity = (uint32_t)PyTuple_GET_SIZE(value);
        int result = put(buffer, TAG_TUPLE, &arity, 4);
        return result ? result : put_values(buffer, value, depth + 1);
    }
    return FOREIGN;
}

int put_values(Buffer *buffer, PyObject *tuple, int depth)
{
    Py_ssize_t size = PyTuple_GET_SIZE(tuple);
    int result = WRITTEN;
    for (Py_ssize_t i = 0; i < size && result == WRITTEN; i++)
        result = put_value(buffer, PyTuple_GET_ITEM(tuple, i), depth);
    return result;
}
