/* Reading rows in columns; codec.h has their form.
 *
 * The rows of a block are made, and filled column by column: each column is a loop over values of one type, and what it
 * fills is still in the first cache.
 */
#include "get.h"

#include "codec.h"

enum { FEW_COLUMNS = 16 };

/* A column of a block. */
typedef struct {
    int form;            /* KIND, WIDTH and WITH_NONE */
    uint32_t index;
    const char *present; /* NULL: no value is None */
    const char *fixed;   /* numbers, or lengths */
    const char *widths;  /* of the characters of each text */
    const char *content;
    Input values;        /* those with tags; of others the end of what can be read */
    int asks;            /* whether its short values may be known */
    uint32_t asked, missed;
} Column;

static size_t bytes_of_width(int form)
{
    return (form & WIDTH) == WIDTH_8 ? 8 : (form & WIDTH) == WIDTH_4 ? 4 : 1;
}

static inline uint64_t length_at(const char *lengths, uint32_t index, size_t width)
{
    union {
        uint8_t small;
        uint32_t middle;
        uint64_t large;
    } at;
    memcpy(&at, lengths + index * width, width);
    return width == 1 ? at.small : width == 4 ? at.middle : at.large;
}

/* Finds the lengths and contents of texts or bytes, all of which are there. */
static int begin_contents(Column *column, Input *input, uint32_t rows)
{
    size_t width = bytes_of_width(column->form);
    if ((column->form & KIND) == COLUMN_TEXT && (column->widths = take(input, rows)) == NULL)
        return -1;
    if ((column->fixed = take(input, rows * width)) == NULL)
        return -1;
    uint64_t size = 0, longest = 0;
    for (uint32_t r = 0; r < rows; r++) {
        uint64_t length = length_at(column->fixed, r, width);
        size += length;
        longest = length > longest ? length : longest;
    }
    if (longest > (size_t)(input->end - input->next)) /* else of AT_ONCE of them the sum is no number of 64 bits */
        size = SIZE_MAX;
    column->content = take(input, size);
    if (column->content == NULL || ((column->form & KIND) == COLUMN_ASCII && !check_ascii(column->content, size)))
        return -1;
    return 0;
}

static int begin_values(Column *column, Input *input)
{
    uint64_t size;
    const char *head = take(input, 8);
    if (head == NULL)
        return -1;
    memcpy(&size, head, 8);
    const char *values = take(input, size);
    if (values == NULL)
        return -1;
    column->values = (Input){values, values + size, input->memory};
    return 0;
}

static int begin_column(Column *column, Input *input, uint32_t rows)
{
    int kind = column->form & KIND;
    if (kind > COLUMN_VALUES || (column->form & WIDTH) == WIDTH || column->form & ~(KIND | WIDTH | WITH_NONE)) {
        PyErr_Format(PyExc_ValueError, "no encoded column begins with %d", column->form);
        return -1;
    }
    if (column->form & WITH_NONE && (column->present = take(input, rows)) == NULL)
        return -1;
    switch (kind) {
    case COLUMN_ASCII:
    case COLUMN_TEXT:
    case COLUMN_BYTES:
        return begin_contents(column, input, rows);
    case COLUMN_VALUES:
        return begin_values(column, input);
    default:
        column->fixed = take(input, rows * (kind == COLUMN_FLOAT ? 8 : bytes_of_width(column->form)));
        return column->fixed == NULL ? -1 : 0;
    }
}

/* Fills a place of a row; 0 without a value. */
static inline int fill(PyObject *row, uint32_t index, PyObject *value)
{
    PyTuple_SET_ITEM(row, index, value);
    return value != NULL;
}

static inline int is_none(const Column *column, uint32_t r)
{
    return column->present != NULL && !column->present[r];
}

static int get_flags(Column *column, PyObject **rows, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        fill(rows[r], column->index, Py_NewRef(is_none(column, r) ? Py_None : column->fixed[r] ? Py_True : Py_False));
    return 0;
}

static int get_nones(Column *column, PyObject **rows, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        fill(rows[r], column->index, Py_NewRef(Py_None));
    return 0;
}

static int get_floats(Column *column, PyObject **rows, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++) {
        double number;
        memcpy(&number, column->fixed + r * sizeof number, sizeof number);
        if (!fill(rows[r], column->index, is_none(column, r) ? Py_NewRef(Py_None) : PyFloat_FromDouble(number)))
            return -1;
    }
    return 0;
}

static inline int get_ints(Column *column, PyObject **rows, uint32_t count, size_t width)
{
    for (uint32_t r = 0; r < count; r++) {
        union {
            int8_t small;
            int32_t middle;
            int64_t large;
        } at;
        memcpy(&at, column->fixed + r * width, width);
        int64_t number = width == 1 ? at.small : width == 4 ? at.middle : at.large;
        if (!fill(rows[r], column->index, is_none(column, r) ? Py_NewRef(Py_None) : PyLong_FromLongLong(number)))
            return -1;
    }
    return 0;
}

static int get_tagged(Column *column, PyObject **rows, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        if (!fill(rows[r], column->index, get_value(&column->values, 0)))
            return -1;
    return 0;
}

static PyObject *new_content(const Column *column, uint32_t r, const char *content, size_t size)
{
    int width = column->widths == NULL ? 0 : column->widths[r];
    if ((column->form & KIND) == COLUMN_BYTES)
        return PyBytes_FromStringAndSize(content, (Py_ssize_t)size);
    if (width == 0)
        return column->widths == NULL || check_ascii(content, size) ? new_ascii(content, size) : NULL;
    if ((width != 1 && width != 2 && width != 4) || size % (size_t)width) {
        PyErr_Format(PyExc_ValueError, "an encoded text has %d bytes per character, expected 1, 2 or 4", width);
        return NULL;
    }
    return get_wide(width, content, size / (size_t)width);
}

static inline int variant_at(const Column *column, uint32_t r)
{
    if ((column->form & KIND) == COLUMN_BYTES)
        return BYTES_VALUE;
    int width = column->widths == NULL ? 0 : column->widths[r];
    return width == 0 ? ASCII_VALUE : width == 1 ? TEXT_1_VALUE : width == 2 ? TEXT_2_VALUE : TEXT_4_VALUE;
}

static PyObject *alone(PyObject *value)
{
    PyObject *row = value == NULL ? NULL : PyTuple_New(1);
    if (row != NULL)
        PyTuple_SET_ITEM(row, 0, Py_NewRef(value));
    return row;
}

/* A short value, or a row of it alone, that is not known yet, or a row that is not. */
static PyObject *get_anew(Column *column, uint32_t r, const char *content, size_t size, Key key, int is_alone)
{
    column->missed++;
    PyObject *value = new_content(column, r, content, size);
    PyObject *row = is_alone ? alone(value) : NULL;
    if (value == NULL || (is_alone && row == NULL)) {
        Py_XDECREF(value);
        return NULL;
    }
    memory_keep(column->values.memory, key, value, row);
    if (!is_alone)
        return value;
    Py_DECREF(value);
    return row;
}

static inline PyObject *get_known(Column *column, uint32_t r, const char *content, size_t size, int is_alone)
{
    Key key = key_of(variant_at(column, r), content, size, (size_t)(column->values.end - content));
    Place *place = memory_find(column->values.memory, key, content, size);
    if (place == NULL)
        return get_anew(column, r, content, size, key, is_alone);
    if (!is_alone)
        return Py_NewRef(place->value);
    if (place->row == NULL) { /* the value was one of several in a row */
        PyObject *value = place->value, *row = alone(value);
        if (row != NULL && place->value == value)
            Py_XSETREF(place->row, Py_NewRef(row));
        return row;
    }
    return Py_NewRef(place->row);
}

static inline PyObject *get_content(Column *column, uint32_t r, const char *content, size_t size, int is_alone)
{
    if (column->asks && size - 1 < REMEMBERED)
        return get_known(column, r, content, size, is_alone);
    PyObject *value = new_content(column, r, content, size);
    if (!is_alone)
        return value;
    PyObject *row = alone(value);
    Py_XDECREF(value);
    return row;
}

/* Fills a column, or makes rows of which it is the only one. */
static inline int get_contents(Column *column, PyObject **rows, uint32_t count, int is_alone,
                               size_t width)
{
    for (uint32_t r = 0; r < count; r++) {
        size_t size = (size_t)length_at(column->fixed, r, width);
        PyObject *made = NULL;
        if (!is_none(column, r))
            made = get_content(column, r, column->content, size, is_alone);
        else
            made = is_alone ? alone(Py_None) : Py_NewRef(Py_None);
        if (made == NULL)
            return -1;
        if (is_alone)
            rows[r] = made;
        else
            PyTuple_SET_ITEM(rows[r], column->index, made);
        column->content += size;
    }
    column->asked += count;
    return 0;
}

static int get_alone(Column *column, PyObject **rows, uint32_t count)
{
    size_t width = bytes_of_width(column->form);
    return width == 1   ? get_contents(column, rows, count, 1, 1)
           : width == 4 ? get_contents(column, rows, count, 1, 4)
                        : get_contents(column, rows, count, 1, 8);
}

static int get_column(Column *column, PyObject **rows, uint32_t count)
{
    size_t width = bytes_of_width(column->form);
    switch (column->form & KIND) {
    case COLUMN_NONE:
        return get_nones(column, rows, count);
    case COLUMN_BOOL:
        return get_flags(column, rows, count);
    case COLUMN_INT:
        return width == 1   ? get_ints(column, rows, count, 1)
               : width == 4 ? get_ints(column, rows, count, 4)
                            : get_ints(column, rows, count, 8);
    case COLUMN_FLOAT:
        return get_floats(column, rows, count);
    case COLUMN_VALUES:
        return get_tagged(column, rows, count);
    default:
        return width == 1   ? get_contents(column, rows, count, 0, 1)
               : width == 4 ? get_contents(column, rows, count, 0, 4)
                            : get_contents(column, rows, count, 0, 8);
    }
}

static int is_of_contents(const Column *column)
{
    int kind = column->form & KIND;
    return kind == COLUMN_ASCII || kind == COLUMN_TEXT || kind == COLUMN_BYTES;
}

static int get_rows(Column *columns, uint32_t arity, PyObject **rows, uint32_t count)
{
    if (arity == 1 && is_of_contents(columns))
        return get_alone(columns, rows, count);
    for (uint32_t r = 0; r < count; r++)
        if ((rows[r] = PyTuple_New(arity)) == NULL)
            return -1;
    for (uint32_t c = 0; c < arity; c++)
        if (get_column(&columns[c], rows, count))
            return -1;
    return 0;
}

static int begin_columns(Column *columns, Input *input, uint32_t count, uint32_t arity)
{
    const char *forms = take(input, arity);
    if (forms == NULL)
        return -1;
    memset(columns, 0, arity * sizeof *columns);
    for (uint32_t c = 0; c < arity; c++) {
        columns[c].form = (unsigned char)forms[c];
        columns[c].index = c;
        columns[c].values = *input;
        if (begin_column(&columns[c], input, count))
            return -1;
        columns[c].asks = is_of_contents(&columns[c]) && memory_asks(input->memory, c, count);
    }
    return 0;
}

static int get_block(Column *columns, Input *input, PyObject **rows, uint32_t count, uint32_t arity)
{
    if (begin_columns(columns, input, count, arity) || get_rows(columns, arity, rows, count))
        return -1;
    for (uint32_t c = 0; c < arity; c++)
        if (columns[c].asks)
            memory_note(input->memory, c, columns[c].asked, columns[c].missed);
    return 0;
}

static PyObject *get_blocks(Column *columns, Input *input, uint32_t rows, uint32_t arity)
{
    PyObject *list = PyList_New(rows);
    if (list == NULL)
        return NULL;
    PyObject **items = ((PyListObject *)list)->ob_item;
    for (uint32_t left = rows; left;) {
        uint32_t count = left < AT_ONCE ? left : AT_ONCE;
        if (get_block(columns, input, items + (rows - left), count, arity)) {
            Py_DECREF(list);
            return NULL;
        }
        left -= count;
    }
    return list;
}

PyObject *get_columns(Input *input, uint32_t rows, uint32_t arity)
{
    if (arity > (size_t)(input->end - input->next)) {
        PyErr_SetString(PyExc_ValueError, "encoded rows have more columns than bytes");
        return NULL;
    }
    Column few[FEW_COLUMNS], *columns = few;
    if (arity > FEW_COLUMNS && (columns = PyMem_Malloc(arity * sizeof *columns)) == NULL)
        return PyErr_NoMemory();
    PyObject *list = get_blocks(columns, input, rows, arity);
    if (columns != few)
        PyMem_Free(columns);
    return list;
}
