/* Writing rows in columns; codec.h has their form.
 *
 * All values of a block are looked at before the first is written: so the bytes of each column are known. They are still
 * in the caches then: with all of 1,024 rows of 30 values as one block, writing takes a fifth more.
 */
#include "put.h"

#include <string.h>

#include "codec.h"
#include "few.h"

/* Kinds of values, as bits. */
enum { NONE = 1, BOOL = 2, INT = 4, FLOAT = 8, ASCII = 16, TEXT = 32, BYTES = 64, OTHER = 128 };

enum { FEW_COLUMNS = 16, HEAD = 8 };

typedef struct {
    PyObject *const *rows;
    size_t count;
} Block;

typedef struct {
    unsigned kinds;   /* of its values, as bits */
    int form;         /* KIND, WIDTH and WITH_NONE */
    uint64_t numbers; /* the bits of its numbers; of negative ones those that are not set */
    uint64_t longest; /* of its texts and bytes */
    uint64_t bytes;   /* of all of them */
} Column;

static inline void note_size(Column *column, unsigned kind, uint64_t size)
{
    column->kinds |= kind;
    column->bytes += size;
    if (size > column->longest)
        column->longest = size;
}

static inline uint64_t text_bytes(PyObject *text)
{
    return (uint64_t)PyUnicode_GET_LENGTH(text) * (uint64_t)PyUnicode_KIND(text);
}

/* Looks at a value; FOREIGN if it has no form. */
static inline int note(Column *column, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyUnicode_Type) {
        note_size(column, PyUnicode_IS_COMPACT_ASCII(value) ? ASCII : TEXT, text_bytes(value));
    } else if (type == &PyLong_Type) {
        int64_t number;
        if (int_of(value, &number))
            return FOREIGN;
        column->kinds |= INT;
        column->numbers |= (uint64_t)(number ^ number >> 63);
    } else if (type == &PyFloat_Type) {
        column->kinds |= FLOAT;
    } else if (value == Py_None) {
        column->kinds |= NONE;
    } else if (type == &PyBool_Type) {
        column->kinds |= BOOL;
    } else if (type == &PyBytes_Type) {
        note_size(column, BYTES, (uint64_t)PyBytes_GET_SIZE(value));
    } else if (type == &PyTuple_Type) {
        column->kinds |= OTHER;
    } else {
        return FOREIGN;
    }
    return WRITTEN;
}

static int note_block(Column *columns, Block block, uint32_t arity)
{
    for (size_t r = 0; r < block.count; r++) {
        PyObject *row = block.rows[r];
        for (uint32_t c = 0; c < arity; c++)
            if (note(&columns[c], PyTuple_GET_ITEM(row, c)))
                return FOREIGN;
    }
    return WRITTEN;
}

static int width_of_numbers(uint64_t numbers)
{
    return numbers <= INT8_MAX ? 0 : numbers <= INT32_MAX ? WIDTH_4 : WIDTH_8;
}

/* The form of a column by what was noted of it. */
static int form_of(const Column *column)
{
    int with_none = column->kinds & NONE ? WITH_NONE : 0;
    int width = column->longest <= SHORT ? 0 : column->longest <= UINT32_MAX ? WIDTH_4 : WIDTH_8;
    switch (column->kinds & ~(unsigned)NONE) {
    case 0:
        return COLUMN_NONE;
    case BOOL:
        return COLUMN_BOOL | with_none;
    case INT:
        return COLUMN_INT | width_of_numbers(column->numbers) | with_none;
    case FLOAT:
        return COLUMN_FLOAT | with_none;
    case ASCII:
        return COLUMN_ASCII | width | with_none;
    case TEXT:
    case TEXT | ASCII:
        return COLUMN_TEXT | width | with_none;
    case BYTES:
        return COLUMN_BYTES | width | with_none;
    default:
        return COLUMN_VALUES;
    }
}

static size_t bytes_of_width(int form)
{
    return (form & WIDTH) == WIDTH_8 ? 8 : (form & WIDTH) == WIDTH_4 ? 4 : 1;
}

/* Bytes that a column takes before its texts, and where its values have tags, about those that they take. */
static size_t fixed_size(const Column *column, size_t rows)
{
    size_t width = bytes_of_width(column->form), size;
    switch (column->form & KIND) {
    case COLUMN_FLOAT:
        size = 8;
        break;
    case COLUMN_TEXT:
        size = 1 + width;
        break;
    case COLUMN_VALUES:
        return 8;
    default:
        size = width;
    }
    return rows * (size + (column->form & WITH_NONE ? 1 : 0));
}

static inline PyObject *value_at(Block block, size_t row, uint32_t c)
{
    return PyTuple_GET_ITEM(block.rows[row], c);
}

static char *put_present(char *at, Block block, uint32_t c)
{
    for (size_t r = 0; r < block.count; r++)
        *at++ = value_at(block, r, c) != Py_None;
    return at;
}

static char *put_flags(char *at, Block block, uint32_t c)
{
    for (size_t r = 0; r < block.count; r++)
        *at++ = value_at(block, r, c) == Py_True;
    return at;
}

static inline char *put_width(char *at, int64_t number, size_t width)
{
    if (width == 1)
        *at = (char)number;
    else if (width == 4)
        memcpy(at, &(int32_t){(int32_t)number}, 4);
    else
        memcpy(at, &number, 8);
    return at + width;
}

static char *put_numbers(char *at, Block block, uint32_t c, size_t width)
{
    for (size_t r = 0; r < block.count; r++) {
        PyObject *value = value_at(block, r, c);
        int64_t number = 0;
        if (value != Py_None)
            (void)int_of(value, &number);
        at = put_width(at, number, width);
    }
    return at;
}

static char *put_floats(char *at, Block block, uint32_t c)
{
    for (size_t r = 0; r < block.count; r++, at += 8) {
        PyObject *value = value_at(block, r, c);
        memcpy(at, &(double){value == Py_None ? 0 : PyFloat_AS_DOUBLE(value)}, 8);
    }
    return at;
}

static char *put_characters_widths(char *at, Block block, uint32_t c)
{
    for (size_t r = 0; r < block.count; r++) {
        PyObject *value = value_at(block, r, c);
        *at++ = value == Py_None || PyUnicode_IS_COMPACT_ASCII(value) ? 0 : (char)PyUnicode_KIND(value);
    }
    return at;
}

static inline size_t content_of(PyObject *value, int kind, const void **content)
{
    if (value == Py_None)
        return 0;
    if (kind == COLUMN_BYTES) {
        *content = PyBytes_AS_STRING(value);
        return (size_t)PyBytes_GET_SIZE(value);
    }
    *content = kind == COLUMN_ASCII ? (const void *)((PyASCIIObject *)value + 1) : PyUnicode_DATA(value);
    return kind == COLUMN_ASCII ? (size_t)PyUnicode_GET_LENGTH(value) : (size_t)text_bytes(value);
}

static inline char *put_contents(char *at, Block block, uint32_t c, int kind, size_t width)
{
    char *content = at + block.count * width;
    for (size_t r = 0; r < block.count; r++) {
        const void *from = "";
        size_t size = content_of(value_at(block, r, c), kind, &from);
        at = put_width(at, (int64_t)size, width);
        vp_copy_few(content, from, size);
        content += size;
    }
    return content;
}

/* The end of what was written of a column whose bytes are known. */
static char *put_fixed(char *at, Block block, uint32_t c, int form)
{
    size_t width = bytes_of_width(form);
    if (form & WITH_NONE)
        at = put_present(at, block, c);
    switch (form & KIND) {
    case COLUMN_BOOL:
        return put_flags(at, block, c);
    case COLUMN_INT:
        return put_numbers(at, block, c, width);
    case COLUMN_FLOAT:
        return put_floats(at, block, c);
    case COLUMN_ASCII: /* the common ones, in loops of their own */
        return width == 1 ? put_contents(at, block, c, COLUMN_ASCII, 1) : put_contents(at, block, c, COLUMN_ASCII, width);
    case COLUMN_TEXT:
        return put_contents(put_characters_widths(at, block, c), block, c, COLUMN_TEXT, width);
    case COLUMN_BYTES:
        return put_contents(at, block, c, COLUMN_BYTES, width);
    default: /* one byte for each None, so that bytes bound the rows */
        return (char *)memset(at, 0, block.count) + block.count;
    }
}

static int put_tagged(Buffer *buffer, Block block, uint32_t c)
{
    size_t before = buffer->length;
    int result = bytes_room(buffer, 8) == NULL ? FAILED : WRITTEN;
    for (size_t r = 0; r < block.count && result == WRITTEN; r++)
        result = put_value(buffer, value_at(block, r, c), 0);
    if (result == WRITTEN)
        memcpy(buffer->data + before, &(uint64_t){buffer->length - before - 8}, 8);
    return result;
}

static int put_column(Buffer *buffer, Block block, uint32_t c, const Column *column)
{
    if ((column->form & KIND) == COLUMN_VALUES)
        return put_tagged(buffer, block, c);
    char *at = bytes_room(buffer, fixed_size(column, block.count) + column->bytes);
    if (at == NULL)
        return FAILED;
    put_fixed(at, block, c, column->form);
    return WRITTEN;
}

/* Sees to it that there is room for a block, and for so many more of about its size. */
static int reserve(Buffer *buffer, Block block, uint32_t arity, Column *columns, size_t more)
{
    size_t size = HEAD + arity;
    for (uint32_t c = 0; c < arity; c++) {
        columns[c].form = form_of(&columns[c]);
        size += fixed_size(&columns[c], block.count) + columns[c].bytes;
    }
    if (size <= buffer->capacity - buffer->length)
        return WRITTEN;
    return bytes_grow(buffer, size + more * (size + size / 16));
}

static int put_noted(Buffer *buffer, Block block, uint32_t arity, const Column *columns)
{
    char *forms = bytes_room(buffer, arity);
    if (forms == NULL)
        return FAILED;
    for (uint32_t c = 0; c < arity; c++)
        forms[c] = (char)columns[c].form;
    int result = WRITTEN;
    for (uint32_t c = 0; c < arity && result == WRITTEN; c++)
        result = put_column(buffer, block, c, &columns[c]);
    return result;
}

static int put_blocks(Buffer *buffer, PyObject *rows, uint32_t arity, Column *columns)
{
    size_t count = (size_t)PyList_GET_SIZE(rows);
    PyObject **items = ((PyListObject *)rows)->ob_item;
    for (size_t first = 0; first < count; first += AT_ONCE) {
        Block block = {items + first, count - first < AT_ONCE ? count - first : AT_ONCE};
        memset(columns, 0, arity * sizeof *columns);
        int result = note_block(columns, block, arity);
        if (result == WRITTEN)
            result = reserve(buffer, block, arity, columns, (count - first - 1) / AT_ONCE);
        if (result == WRITTEN && first == 0)
            result = put_head(buffer, count, arity);
        if (result == WRITTEN)
            result = put_noted(buffer, block, arity, columns);
        if (result != WRITTEN)
            return result;
    }
    return WRITTEN;
}

int put_columns(Buffer *buffer, PyObject *rows, uint32_t arity)
{
    Column few[FEW_COLUMNS], *columns = few;
    if (arity > FEW_COLUMNS && (columns = PyMem_Malloc(arity * sizeof *columns)) == NULL) {
        PyErr_NoMemory();
        return FAILED;
    }
    int result = put_blocks(buffer, rows, arity, columns);
    if (columns != few)
        PyMem_Free(columns);
    return result;
}
