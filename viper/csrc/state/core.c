/* Tables, rows and buffers, as far as all other files of state need them. */
#include "state.h"

int buffer_grow(Buffer *buffer, size_t size)
{
    size_t room = 2 * (buffer->length + size);
    char *larger = PyMem_Realloc(buffer->data, room);
    if (larger == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    buffer->data = larger;
    buffer->room = room;
    return 0;
}

void table_is_full(const KeyedTable *table)
{
    PyErr_Format(table->full, "state %U has no room for more", table->name);
}

static int foreign(const KeyedTable *table, const Key *key, uint64_t group)
{
    PyObject *value = key->value == NULL ? key_to_value(key->bytes, key->length) : Py_NewRef(key->value);
    if (value != NULL)
        PyErr_Format(PyExc_LookupError,
                     "state %U was asked for the key %R, which is of key group %llu, and that belongs to another "
                     "task: where each tuple comes to every task, ask self.owns_key first",
                     table->name, value, (unsigned long long)group);
    Py_XDECREF(value);
    return -1;
}

int table_ask_time(KeyedTable *table)
{
    PyObject *told = PyObject_CallNoArgs(table->now);
    int64_t time = told == NULL ? -1 : PyLong_AsLongLong(told);
    Py_XDECREF(told);
    if (time == -1 && PyErr_Occurred())
        return -1;
    if (time > table->time) /* what is gone stays so */
        table->time = time;
    return 0;
}

int table_note_time(KeyedTable *table, vp_row *row)
{
    if ((int64_t)*row_time(table, row) == table->time)
        return 0;
    if (vp_writer_reserve(table->writer, 1)) {
        table_is_full(table);
        return -1;
    }
    vp_write(table->writer, (vp_word *)row_time(table, row), (uint64_t)table->time);
    return 0;
}

int64_t table_group(KeyedTable *table, const Key *key)
{
    uint64_t group = key->hash & (table->groups - 1);
    if (table->tables[group] == NULL)
        return foreign(table, key, group);
    vp_keyed_note_access(table->tables[group]);
    return table_tell_time(table) ? -1 : (int64_t)group;
}

int table_owns(const KeyedTable *table, uint64_t group)
{
    if (group < table->groups && table->tables[group] != NULL)
        return 0;
    PyErr_Format(PyExc_LookupError, "state %U: key group %llu is none of this task's", table->name,
                 (unsigned long long)group);
    return -1;
}

vp_row *table_find(const KeyedTable *table, uint64_t group, const Key *key)
{
    vp_row *row = vp_keyed_find(table->writer, table->tables[group], key->hash, key->bytes, key->length);
    return row == NULL || table_is_gone(table, row) ? NULL : row;
}

void table_back(KeyedTable *table, vp_savepoint place)
{
    vp_writer_back(table->writer, place);
    table->moves++; /* what was entered or moved since has gone back */
}

vp_keyed *map_rows(const KeyedTable *table, const vp_row *row)
{
    uint64_t offset = row == NULL ? 0 : *row_words((vp_row *)row);
    return offset ? (vp_keyed *)(table->writer->arena + offset) : NULL;
}
