/* The stable hash of Python values; canonical.h has its form. */
#include "rows/rows.h" /* first, as Python.h wants it */

#include "canonical.h"
#include "hashing.h"

_Static_assert(sizeof(Py_hash_t) == 8, "Python's hash of an int must be its residue modulo 2^61 - 1");

/* Bytes of a text that is not ASCII which need no memory of their own. */
enum { SHORT_TEXT = 256 };

static size_t write_utf8(PyObject *text, unsigned char *to)
{
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    unsigned char *at = to;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        if (c < 0x80) {
            *at++ = (unsigned char)c;
            continue;
        }
        int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
        *at++ = (unsigned char)(heads[more] | c >> 6 * more);
        while (more--)
            *at++ = (unsigned char)(0x80 | (c >> 6 * more & 0x3f));
    }
    return (size_t)(at - to);
}

/* Not through PyUnicode_AsUTF8, which refuses surrogates, and whose result stays in the text for as long as it lives. */
RARELY static int hash_wide_text(PyObject *text, uint64_t *hash)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    unsigned char brief[SHORT_TEXT], *encoded = brief;
    if (length > SHORT_TEXT / 4 && (encoded = PyMem_Malloc(4 * (size_t)length)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *hash = hash_of_bytes(encoded, write_utf8(text, encoded), KIND_TEXT);
    if (encoded != brief)
        PyMem_Free(encoded);
    return 0;
}

RARELY static int hash_tuple(PyObject *tuple, PyObject *rare, uint64_t *hash)
{
    if (Py_EnterRecursiveCall(" in a nested key"))
        return -1;
    Py_ssize_t size = PyTuple_GET_SIZE(tuple);
    int failed = 0;
    Sip state = hash_start();
    for (Py_ssize_t i = 0; !failed && i < size; i++) {
        uint64_t member = 0;
        failed = hash_value(PyTuple_GET_ITEM(tuple, i), rare, &member);
        state = sip_word(state, member);
    }
    Py_LeaveRecursiveCall();
    *hash = sip_end(state, last_word((uint64_t)size, KIND_SEQUENCE));
    return failed;
}

RARELY static int hash_list(PyObject *list, PyObject *rare, uint64_t *hash)
{
    PyObject *members = PyList_AsTuple(list); /* `rare` may run code that changes the list */
    int failed = members == NULL ? -1 : hash_tuple(members, rare, hash);
    Py_XDECREF(members);
    return failed;
}

/* Also of NaN, which is refused as a key, and yet has to go to some task. */
RARELY static int hash_rare(PyObject *value, PyObject *rare, uint64_t *hash)
{
    PyObject *found = PyObject_CallOneArg(rare, value);
    if (found == NULL)
        return -1;
    *hash = PyLong_AsUnsignedLongLong(found);
    Py_DECREF(found);
    return PyErr_Occurred() ? -1 : 0;
}

int hash_value(PyObject *value, PyObject *rare, uint64_t *hash)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyUnicode_Type) {
        if (!PyUnicode_IS_COMPACT_ASCII(value))
            return hash_wide_text(value, hash);
        *hash = hash_of_bytes(PyUnicode_DATA(value), (size_t)PyUnicode_GET_LENGTH(value), KIND_TEXT);
    } else if (type == &PyLong_Type || type == &PyBool_Type) {
        *hash = hash_of_residue(PyLong_Type.tp_hash(value));
    } else if (type == &PyFloat_Type) {
        double number = PyFloat_AS_DOUBLE(value);
        if (number != number)
            return hash_rare(value, rare, hash);
        *hash = hash_of_residue(residue_of_double(number));
    } else if (value == Py_None) {
        *hash = hash_of_none();
    } else if (type == &PyBytes_Type) {
        *hash = hash_of_bytes(PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value), KIND_BYTES);
    } else if (type == &PyTuple_Type) {
        return hash_tuple(value, rare, hash);
    } else if (type == &PyList_Type) {
        return hash_list(value, rare, hash);
    } else {
        return hash_rare(value, rare, hash);
    }
    return 0;
}

PyObject *hashing_hash_of(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *value, *rare;
    uint64_t hash;
    if (!PyArg_ParseTuple(args, "OO", &value, &rare) || hash_value(value, rare, &hash))
        return NULL;
    return PyLong_FromUnsignedLongLong(hash);
}

PyObject *hashing_siphash(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer data;
    unsigned long long key0 = HASH_KEY_0, key1 = HASH_KEY_1;
    if (!PyArg_ParseTuple(args, "y*|KK", &data, &key0, &key1))
        return NULL;
    uint64_t hash = sip_bytes(sip_start(key0, key1), data.buf, (size_t)data.len);
    PyBuffer_Release(&data);
    return PyLong_FromUnsignedLongLong(hash);
}
