/* Small numbers for the keys of Arrow columns, so that what is remembered of a key can lie in arrays.
 *
 * A table holds integers of up to 64 bits with a sign, or strings, or binaries: whichever its first column has. All else
 * is left to Python, which asks for the keys then. Arrow's dictionaries and a dict of Python's take 90 ns a row for
 * words and 290 for 10,000 distinct integers among 16,384, this 15 to 30 and 5 to 10.
 */
#include "exporting.h"

#include <string.h>

enum { LEAST_BITS = 6, FEW = 8, STRETCH = 32 };
static const uint32_t NO_SLOT = UINT32_MAX;
static const uint64_t SPREAD = 0x9E3779B97F4A7C15; /* 2^64 divided by the golden ratio */

typedef struct {
    uint64_t word; /* an integer itself; of bytes what word_of_text makes */
    uint32_t slot; /* NO_SLOT: the place is free */
    uint32_t size; /* of bytes */
} Entry;

typedef struct {
    PyObject_HEAD
    Entry *entries; /* 2^bits of them, at most half of which are in use; NULL before the first column */
    uint64_t *keys; /* by slot: an integer, or where its bytes end in `text`; as many as half the entries */
    unsigned char *text;
    size_t text_size, text_room;
    uint32_t count, none; /* keys; the slot of null */
    int bits;
    char family; /* i: integers, u: strings, z: binaries; 0 before the first column */
} SlotTable;

typedef struct {
    const struct ArrowArray *array;
    const uint8_t *validity;
    const unsigned char *values, *data;
    char format;
} Keys;

/* The family of the keys of an Arrow type; 0 where Python is to look them up. */
static char family_of(const char *format)
{
    if (format[0] == '\0' || format[1] != '\0')
        return 0;
    if (strchr("cCsSiIl", format[0]) != NULL)
        return 'i';
    return format[0] == 'u' || format[0] == 'U' ? 'u' : format[0] == 'z' || format[0] == 'Z' ? 'z' : 0;
}

static inline size_t place_of(const SlotTable *self, uint64_t word)
{
    word *= SPREAD;
    return (size_t)((word ^ word >> 32) * SPREAD >> (64 - self->bits));
}

/* Makes room for twice as many keys; -1 with an error set, and nothing changed. */
static int grow(SlotTable *self)
{
    int bits = self->entries == NULL ? LEAST_BITS : self->bits + 1;
    size_t size = (size_t)1 << bits;
    Entry *entries = bits > 32 ? NULL : PyMem_New(Entry, size);
    uint64_t *keys = entries == NULL ? NULL : PyMem_Realloc(self->keys, size / 2 * sizeof *keys);
    if (keys == NULL) {
        PyMem_Free(entries);
        PyErr_NoMemory();
        return -1;
    }
    self->keys = keys;
    memset(entries, 0xFF, size * sizeof *entries); /* all are free */
    size_t before = self->entries == NULL ? 0 : (size_t)1 << self->bits;
    self->bits = bits;
    for (size_t i = 0; i < before; i++) {
        if (self->entries[i].slot == NO_SLOT)
            continue;
        size_t place = place_of(self, self->entries[i].word);
        while (entries[place].slot != NO_SLOT)
            place = (place + 1) & (size - 1);
        entries[place] = self->entries[i];
    }
    PyMem_Free(self->entries);
    self->entries = entries;
    return 0;
}

/* Takes the next slot for a key; NO_SLOT with an error set. */
static uint32_t next_slot(SlotTable *self, uint64_t key)
{
    if (self->count >= (size_t)1 << (self->bits - 1) && grow(self))
        return NO_SLOT;
    self->keys[self->count] = key;
    return self->count++;
}

/* Enters a key that the table does not have. */
static uint32_t enter(SlotTable *self, uint64_t word, uint32_t size, uint64_t key)
{
    uint32_t slot = next_slot(self, key);
    if (slot == NO_SLOT)
        return slot;
    size_t place = place_of(self, word), mask = ((size_t)1 << self->bits) - 1;
    while (self->entries[place].slot != NO_SLOT)
        place = (place + 1) & mask;
    self->entries[place] = (Entry){word, slot, size};
    return slot;
}

static uint32_t slot_of_none(SlotTable *self)
{
    if (self->none == NO_SLOT)
        self->none = next_slot(self, self->text_size);
    return self->none;
}

static inline uint32_t slot_of_number(SlotTable *self, uint64_t word)
{
    size_t mask = ((size_t)1 << self->bits) - 1;
    for (size_t place = place_of(self, word);; place = (place + 1) & mask) {
        const Entry *entry = &self->entries[place];
        if (entry->slot == NO_SLOT)
            break;
        if (entry->word == word)
            return entry->slot;
    }
    return enter(self, word, 0, word);
}

/* Appends a key's bytes; -1 with an error set. */
static int keep_text(SlotTable *self, const unsigned char *bytes, uint32_t size)
{
    if (self->text_size + size > self->text_room) {
        size_t room = 2 * (self->text_size + size);
        unsigned char *text = PyMem_Realloc(self->text, room);
        if (text == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->text = text;
        self->text_room = room;
    }
    if (size)
        memcpy(self->text + self->text_size, bytes, size);
    self->text_size += size;
    return 0;
}

static uint32_t enter_text(SlotTable *self, uint64_t word, const unsigned char *bytes, uint32_t size)
{
    size_t before = self->text_size;
    if (keep_text(self, bytes, size))
        return NO_SLOT;
    uint32_t slot = enter(self, word, size, self->text_size);
    if (slot == NO_SLOT)
        self->text_size = before;
    return slot;
}

static inline uint64_t load_64(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Eight bytes at most, as a number that no others of the same size have. All eight are loaded where there are as many up to
 * the end of the memory: sizes are as good as random, and a branch for each takes 5 ns. */
static inline uint64_t word_of_few(const unsigned char *bytes, uint32_t size, const unsigned char *end)
{
    uint64_t word = 0;
    if (end - bytes < FEW) {
        memcpy(&word, bytes, size);
        return word;
    }
    word = load_64(bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return size ? word >> (64 - 8 * size) << (64 - 8 * size) : 0;
#else
    return size ? word << (64 - 8 * size) >> (64 - 8 * size) : 0;
#endif
}

/* What tells most keys apart: of a few bytes all, of more a hash, which only this table sees. */
static inline uint64_t word_of_text(const unsigned char *bytes, uint32_t size, const unsigned char *end)
{
    if (size <= FEW)
        return word_of_few(bytes, size, end);
    uint64_t hash = size;
    for (uint32_t i = 0; i + FEW < size; i += FEW) {
        hash = (hash ^ load_64(bytes + i)) * SPREAD;
        hash ^= hash >> 29;
    }
    return (hash ^ load_64(bytes + size - FEW)) * SPREAD;
}

static inline int has_text(const SlotTable *self, const Entry *entry, const unsigned char *bytes, uint32_t size)
{
    return entry->size == size && (size <= FEW || memcmp(self->text + self->keys[entry->slot] - size, bytes, size) == 0);
}

static inline uint32_t slot_of_text(SlotTable *self, uint64_t word, const unsigned char *bytes, uint32_t size)
{
    size_t mask = ((size_t)1 << self->bits) - 1;
    for (size_t place = place_of(self, word);; place = (place + 1) & mask) {
        const Entry *entry = &self->entries[place];
        if (entry->slot == NO_SLOT)
            break;
        if (entry->word == word && has_text(self, entry, bytes, size))
            return entry->slot;
    }
    return enter_text(self, word, bytes, size);
}

#define SLOTS_OF(name, setup, slot)                                                                        \
    static int name(SlotTable *self, const Keys *keys, uint32_t *slots)                                    \
    {                                                                                                      \
        for (int64_t i = 0, at = keys->array->offset; i < keys->array->length; i++, at++) {                \
            if (!bit_at(keys->validity, at)) {                                                             \
                slots[i] = slot_of_none(self);                                                             \
            } else {                                                                                       \
                setup;                                                                                     \
                slots[i] = slot;                                                                           \
            }                                                                                              \
            if (slots[i] == NO_SLOT)                                                                       \
                return -1;                                                                                 \
        }                                                                                                  \
        return 0;                                                                                          \
    }

/* Buffers need not be aligned, so values are copied out of them. */
#define NUMBERS(type)                                                                                      \
    SLOTS_OF(slots_of_##type, type value; memcpy(&value, keys->values + (size_t)at * sizeof value, sizeof value), \
             slot_of_number(self, (uint64_t)(int64_t)value))

/* Texts are numbered in stretches: what tells each of them apart is found for all of one first, and its place in the table
 * is fetched into the caches meanwhile. Words of a text take 8 ns each so, and 12 one after the other. What is longer than
 * 4 GB does not fit an entry's size; it is refused. */
#define TEXTS(type)                                                                                        \
    static int texts_of_##type(SlotTable *self, const Keys *keys, uint32_t *slots)                         \
    {                                                                                                      \
        const unsigned char *offsets = keys->values + (size_t)keys->array->offset * sizeof(type);          \
        const unsigned char *texts[STRETCH], *last = NULL;                                                 \
        uint64_t words[STRETCH];                                                                           \
        uint32_t sizes[STRETCH];                                                                           \
        type ends[2];                                                                                      \
        if (keys->array->length) {                                                                         \
            memcpy(ends, offsets + (size_t)keys->array->length * sizeof *ends, sizeof *ends);              \
            last = keys->data + *ends;                                                                     \
        }                                                                                                  \
        for (int64_t first = 0, left = keys->array->length; left > 0; first += STRETCH, left -= STRETCH) { \
            int count = left < STRETCH ? (int)left : STRETCH;                                              \
            for (int i = 0; i < count; i++) {                                                              \
                memcpy(ends, offsets + (size_t)(first + i) * sizeof *ends, sizeof ends);                   \
                if ((uint64_t)(ends[1] - ends[0]) > UINT32_MAX) {                                          \
                    PyErr_SetString(PyExc_OverflowError, "a key of more than 4 GB");                       \
                    return -1;                                                                             \
                }                                                                                          \
                texts[i] = keys->data + ends[0];                                                           \
                sizes[i] = (uint32_t)(ends[1] - ends[0]);                                                  \
                words[i] = word_of_text(texts[i], sizes[i], last);                                         \
                __builtin_prefetch(&self->entries[place_of(self, words[i])]);                              \
            }                                                                                              \
            for (int i = 0; i < count; i++) {                                                              \
                int is_key = bit_at(keys->validity, keys->array->offset + first + i);                      \
                uint32_t slot = is_key ? slot_of_text(self, words[i], texts[i], sizes[i]) : slot_of_none(self); \
                if (slot == NO_SLOT)                                                                       \
                    return -1;                                                                             \
                slots[first + i] = slot;                                                                   \
            }                                                                                              \
        }                                                                                                  \
        return 0;                                                                                          \
    }

NUMBERS(int8_t)
NUMBERS(uint8_t)
NUMBERS(int16_t)
NUMBERS(uint16_t)
NUMBERS(int32_t)
NUMBERS(uint32_t)
NUMBERS(int64_t)
TEXTS(int32_t)
TEXTS(int64_t)

static int number_all(SlotTable *self, const Keys *keys, uint32_t *slots)
{
    switch (keys->format) {
    case 'c':
        return slots_of_int8_t(self, keys, slots);
    case 'C':
        return slots_of_uint8_t(self, keys, slots);
    case 's':
        return slots_of_int16_t(self, keys, slots);
    case 'S':
        return slots_of_uint16_t(self, keys, slots);
    case 'i':
        return slots_of_int32_t(self, keys, slots);
    case 'I':
        return slots_of_uint32_t(self, keys, slots);
    case 'l':
        return slots_of_int64_t(self, keys, slots);
    case 'U':
    case 'Z':
        return texts_of_int64_t(self, keys, slots);
    default:
        return texts_of_int32_t(self, keys, slots);
    }
}

static PyObject *numbered(SlotTable *self, const Keys *keys)
{
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)keys->array->length * (Py_ssize_t)sizeof(uint32_t));
    if (made == NULL || (self->entries == NULL && grow(self)) || number_all(self, keys, (uint32_t *)(void *)PyBytes_AS_STRING(made)))
        Py_CLEAR(made);
    return made;
}

PyDoc_STRVAR(of_doc, "of(column) -> bytes | None: the number of each value of an Arrow array, as native uint32, in the order\n"
                     "in which keys are first seen; null is a key. None where the table cannot hold keys of its type, or\n"
                     "holds others: nothing has changed then.");

static PyObject *slots_of(SlotTable *self, PyObject *column)
{
    Exported exported;
    PyObject *made = NULL;
    if (exported_open(&exported, column))
        return NULL;
    const struct ArrowArray *array = exported.array;
    char family = family_of(exported.schema->format);
    if (family == 0 || exported.schema->dictionary != NULL || (self->family != 0 && self->family != family)) {
        made = Py_NewRef(Py_None);
    } else if (array->n_buffers != (family == 'i' ? 2 : 3)) {
        PyErr_Format(PyExc_ValueError, "a column has %lld buffers, which are not those of its type %s",
                     (long long)array->n_buffers, exported.schema->format);
    } else {
        Keys keys = {array, array->buffers[0], array->buffers[1], family == 'i' ? NULL : array->buffers[2],
                     exported.schema->format[0]};
        self->family = family;
        made = numbered(self, &keys);
    }
    exported_close(&exported);
    return made;
}

static PyObject *key_at(const SlotTable *self, uint32_t slot)
{
    if (slot == self->none)
        Py_RETURN_NONE;
    if (self->family == 'i')
        return PyLong_FromLongLong((long long)(int64_t)self->keys[slot]);
    uint64_t first = slot ? self->keys[slot - 1] : 0, size = self->keys[slot] - first;
    const char *bytes = size ? (const char *)self->text + first : "";
    return self->family == 'u' ? PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)size, NULL)
                               : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
}

PyDoc_STRVAR(keys_doc, "keys() -> list: the keys as Python's values, in the order of their numbers.");

static PyObject *slots_keys(SlotTable *self, PyObject *nothing)
{
    (void)nothing;
    PyObject *keys = PyList_New(self->count);
    for (uint32_t slot = 0; keys != NULL && slot < self->count; slot++) {
        PyObject *key = key_at(self, slot);
        if (key == NULL)
            Py_CLEAR(keys);
        else
            PyList_SET_ITEM(keys, slot, key);
    }
    return keys;
}

static Py_ssize_t slots_length(SlotTable *self)
{
    return self->count;
}

static PyObject *slots_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    if (PyTuple_GET_SIZE(args) || (options != NULL && PyDict_GET_SIZE(options))) {
        PyErr_SetString(PyExc_TypeError, "SlotTable() takes no arguments");
        return NULL;
    }
    SlotTable *self = (SlotTable *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->none = NO_SLOT;
    return (PyObject *)self;
}

static void slots_dealloc(SlotTable *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyMem_Free(self->entries);
    PyMem_Free(self->keys);
    PyMem_Free(self->text);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef slots_methods[] = {
    {"of", (PyCFunction)slots_of, METH_O, of_doc},
    {"keys", (PyCFunction)slots_keys, METH_NOARGS, keys_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots_slots[] = {
    {Py_tp_doc, "SlotTable(): numbers the keys of Arrow columns from 0 on; for one thread."},
    {Py_tp_new, slots_new},
    {Py_tp_dealloc, slots_dealloc},
    {Py_sq_length, slots_length},
    {Py_tp_methods, slots_methods},
    {0, NULL},
};

PyType_Spec rows_slots_spec = {"viper._rows.SlotTable", sizeof(SlotTable), 0, Py_TPFLAGS_DEFAULT, slots_slots};
