/* Canonical bytes of keys; see key.h. */
#include "rows/rows.h" /* first, as Python.h wants it */

#include <math.h>
#include <string.h>

#include "canonical.h"
#include "few.h"
#include "hashing.h"
#include "key.h"

static const double TWO_TO_63 = 9223372036854775808.0;

static int make_room(Key *key, size_t more)
{
    if (key->bytes == NULL) {
        key->bytes = key->brief;
        key->room = BRIEF_KEY;
    }
    if (key->length + more <= key->room)
        return 0;
    size_t room = 2 * (key->length + more);
    unsigned char *bytes = PyMem_Realloc(key->bytes == key->brief ? NULL : key->bytes, room);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (key->bytes == key->brief)
        memcpy(bytes, key->brief, key->length);
    key->bytes = bytes;
    key->room = room;
    return 0;
}

static int append(Key *key, unsigned char kind, const void *data, size_t size)
{
    if (make_room(key, size + 1))
        return -1;
    key->bytes[key->length] = kind;
    vp_copy_few(key->bytes + key->length + 1, data, size);
    key->length += size + 1;
    return 0;
}

static int append_integer(Key *key, int64_t number)
{
    return append(key, 'i', &number, sizeof number);
}

static int append_value(Key *key, PyObject *value, const Rare *rare);

static int refuse_canonical(void)
{
    PyErr_SetString(PyExc_TypeError, "what stands for a key is a value in a tuple, or bytes");
    return -1;
}

static int append_rare(Key *key, PyObject *value, const Rare *rare)
{
    key->whole = 0;
    if (Py_EnterRecursiveCall(" in a key"))
        return -1;
    PyObject *canonical = PyObject_CallOneArg(rare->canonical, value);
    int failed = canonical == NULL;
    if (!failed && PyTuple_Check(canonical) && PyTuple_GET_SIZE(canonical) == 1)
        failed = append_value(key, PyTuple_GET_ITEM(canonical, 0), rare);
    else if (!failed && PyBytes_Check(canonical))
        failed = append(key, 'x', PyBytes_AS_STRING(canonical), (size_t)PyBytes_GET_SIZE(canonical));
    else if (!failed)
        failed = refuse_canonical();
    Py_XDECREF(canonical);
    Py_LeaveRecursiveCall();
    return failed ? -1 : 0;
}

/* Of any but NaN, which has no hash. Beyond 64 bits a float may equal an integer, which Python tells apart best. */
static int append_float(Key *key, double number, PyObject *value, const Rare *rare)
{
    if (isinf(number) || floor(number) != number)
        return append(key, 'f', &number, sizeof number);
    key->whole = 0;
    if (number >= -TWO_TO_63 && number < TWO_TO_63)
        return append_integer(key, (int64_t)number);
    return append_rare(key, value, rare);
}

static int append_long(Key *key, PyObject *value, const Rare *rare)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow ? append_rare(key, value, rare) : append_integer(key, number);
}

static int append_text(Key *key, PyObject *text)
{
    if (PyUnicode_IS_COMPACT_ASCII(text))
        return append(key, 't', PyUnicode_DATA(text), (size_t)PyUnicode_GET_LENGTH(text));
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (bytes == NULL)
        return -1;
    int failed = append(key, 't', PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
    return failed;
}

/* A member with its length before it. */
static int append_member(Key *key, PyObject *value, const Rare *rare)
{
    if (make_room(key, sizeof(uint32_t)))
        return -1;
    size_t at = key->length;
    key->length += sizeof(uint32_t);
    if (append_value(key, value, rare))
        return -1;
    size_t size = key->length - at - sizeof(uint32_t);
    if (size > UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a part of a key has more than 4 GB");
        return -1;
    }
    uint32_t length = (uint32_t)size;
    memcpy(key->bytes + at, &length, sizeof length);
    return 0;
}

static int append_sequence(Key *key, PyObject *value, const Rare *rare)
{
    if (Py_EnterRecursiveCall(" in a nested key"))
        return -1;
    PyObject *members = PySequence_Tuple(value); /* `rare` may run code that changes a list */
    int failed = members == NULL || append(key, 's', NULL, 0);
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(members); i++)
        failed = append_member(key, PyTuple_GET_ITEM(members, i), rare);
    Py_XDECREF(members);
    Py_LeaveRecursiveCall();
    return failed ? -1 : 0;
}

static int append_value(Key *key, PyObject *value, const Rare *rare)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyUnicode_Type)
        return append_text(key, value);
    if (type == &PyBool_Type || type == &PyList_Type)
        key->whole = 0;
    if (type == &PyLong_Type || type == &PyBool_Type)
        return append_long(key, value, rare);
    if (type == &PyFloat_Type)
        return append_float(key, PyFloat_AS_DOUBLE(value), value, rare);
    if (type == &PyBytes_Type)
        return append(key, 'b', PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value));
    if (value == Py_None)
        return append(key, '0', NULL, 0);
    if (type == &PyTuple_Type || type == &PyList_Type)
        return append_sequence(key, value, rare);
    return append_rare(key, value, rare);
}

/* Whether a value is a text that needs no other memory than `brief`, as the keys of most streams are. */
static inline int is_brief(PyObject *value)
{
    return PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value) && PyUnicode_GET_LENGTH(value) < BRIEF_KEY;
}

/* The key of such a text: 110 instructions, where the way of all values takes 190. */
static inline int key_of_brief(Key *key, PyObject *text)
{
    size_t size = (size_t)PyUnicode_GET_LENGTH(text);
    const unsigned char *data = PyUnicode_DATA(text);
    if (key->bytes == NULL && make_room(key, 1))
        return -1;
    key->hash = hash_of_bytes(data, size, KIND_TEXT);
    key->bytes[0] = 't';
    vp_copy_few(key->bytes + 1, data, size);
    key->length = size + 1;
    return 0;
}

int key_of_value(Key *key, PyObject *value, const Rare *rare)
{
    key->length = 0;
    key->whole = 1;
    Py_XSETREF(key->value, Py_NewRef(value));
    if (is_brief(value))
        return key_of_brief(key, value);
    if (hash_value(value, rare->hash, &key->hash)) /* first, as it refuses what is no key */
        return -1;
    return append_value(key, value, rare);
}

int key_of_bytes(Key *key, unsigned char kind, const void *data, size_t size, uint64_t hash)
{
    key->length = 0;
    key->whole = 1;
    key->hash = hash;
    Py_CLEAR(key->value);
    return append(key, kind, data, size);
}

int key_of_row(Key *key, PyObject *row, PyObject *indexes, const Rare *rare)
{
    Py_ssize_t count = PyTuple_GET_SIZE(indexes);
    PyObject *values = count == 1 ? NULL : PyTuple_New(count);
    if (count != 1 && values == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t index = PyLong_AsSsize_t(PyTuple_GET_ITEM(indexes, i));
        if (index < 0 || index >= PyTuple_GET_SIZE(row)) {
            Py_XDECREF(values);
            PyErr_Format(PyExc_IndexError, "a row of %zd values has no field %zd", PyTuple_GET_SIZE(row), index);
            return -1;
        }
        if (count == 1)
            return key_of_value(key, PyTuple_GET_ITEM(row, index), rare);
        PyTuple_SET_ITEM(values, i, Py_NewRef(PyTuple_GET_ITEM(row, index)));
    }
    int failed = key_of_value(key, values, rare);
    Py_DECREF(values);
    return failed;
}

/* -- back */

static PyObject *refuse_cut(void)
{
    PyErr_SetString(PyExc_ValueError, "a key's bytes are cut off");
    return NULL;
}

static PyObject *to_sequence(const unsigned char *bytes, size_t length)
{
    PyObject *members = PyList_New(0);
    while (members != NULL && length) {
        uint32_t size;
        if (length >= sizeof size)
            memcpy(&size, bytes, sizeof size);
        if (length < sizeof size || length - sizeof size < size) {
            Py_DECREF(members);
            return refuse_cut();
        }
        PyObject *member = key_to_value(bytes + sizeof size, size);
        if (member == NULL || PyList_Append(members, member)) {
            Py_XDECREF(member);
            Py_DECREF(members);
            return NULL;
        }
        Py_DECREF(member);
        bytes += sizeof size + size;
        length -= sizeof size + size;
    }
    PyObject *made = members == NULL ? NULL : PyList_AsTuple(members);
    Py_XDECREF(members);
    return made;
}

static PyObject *to_number(unsigned char kind, const unsigned char *bytes, size_t length)
{
    int64_t number;
    double real;
    if (length != sizeof number)
        return refuse_cut();
    memcpy(&number, bytes, sizeof number);
    memcpy(&real, bytes, sizeof real);
    return kind == 'i' ? PyLong_FromLongLong(number) : PyFloat_FromDouble(real);
}

PyObject *key_to_value(const unsigned char *bytes, size_t length)
{
    const char *data = (const char *)bytes + 1;
    Py_ssize_t size = (Py_ssize_t)length - 1;
    switch (length ? bytes[0] : 0) {
    case '0':
        Py_RETURN_NONE;
    case 'i':
    case 'f':
        return to_number(bytes[0], bytes + 1, length - 1);
    case 't':
        return PyUnicode_DecodeUTF8(data, size, "surrogatepass");
    case 'b':
        return PyBytes_FromStringAndSize(data, size);
    case 's':
        return to_sequence(bytes + 1, length - 1);
    default:
        PyErr_SetString(PyExc_ValueError, "a key's bytes do not tell its value");
        return NULL;
    }
}

void key_clear(Key *key)
{
    if (key->bytes != key->brief)
        PyMem_Free(key->bytes);
    Py_CLEAR(key->value);
    *key = (Key){0};
}

PyObject *key_canonical(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *value, *bytes = NULL;
    Rare rare;
    Key key = {0};
    if (!PyArg_ParseTuple(args, "OOO", &value, &rare.hash, &rare.canonical))
        return NULL;
    if (key_of_value(&key, value, &rare) == 0)
        bytes = PyBytes_FromStringAndSize((const char *)key.bytes, (Py_ssize_t)key.length);
    key_clear(&key);
    return bytes;
}
