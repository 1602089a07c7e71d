/* What the cells of all kinds have in common: the row of the scope's key, and how they come and go. */
#include "state.h"

int cell_look_anew(Cell *self)
{
    const Key *key = scope_key(self->scope);
    int64_t group = key == NULL ? -1 : table_group(self->table, key);
    if (group < 0)
        return -1;
    self->group = (uint64_t)group;
    self->row = table_find(self->table, self->group, key);
    self->number = self->scope->number;
    self->moves = self->table->moves;
    return 0;
}

int cell_enter(Cell *self)
{
    if (cell_look(self))
        return -1;
    if (self->row != NULL)
        return 0;
    self->row = table_enter(self->table, self->group, scope_key(self->scope));
    self->moves = self->table->moves;
    return self->row == NULL ? -1 : 0;
}

int cell_drop(Cell *self)
{
    if (cell_look(self))
        return -1;
    if (self->row == NULL)
        return 0;
    vp_savepoint before = cell_savepoint(self);
    if (table_drop(self->table, self->group, self->row) == 0)
        return 0;
    table_back(self->table, before);
    return -1;
}

Cell *cell_of(PyTypeObject *type, PyObject *scope, PyObject *table, char kind, Py_ssize_t columns)
{
    if (!is_scope(scope) || !is_keyed_table(table) || ((KeyedTable *)table)->kind != kind ||
        PyBytes_GET_SIZE(((KeyedTable *)table)->codes) != columns) {
        PyErr_Format(PyExc_TypeError, "a %s is made of a Scope and of a KeyedTable of %s", type->tp_name,
                     kind == LIST ? "a list" : kind == MAP ? "a map" : columns == 1 ? "one column" : "as many columns");
        return NULL;
    }
    Cell *self = (Cell *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->scope = (Scope *)Py_NewRef(scope);
    self->table = (KeyedTable *)Py_NewRef(table);
    self->code = PyBytes_AS_STRING(self->table->codes)[0];
    self->number = UINT64_MAX;
    return self;
}

int cell_traverse(Cell *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->scope);
    Py_VISIT(self->table);
    return 0;
}

int cell_clear(Cell *self)
{
    Py_CLEAR(self->scope);
    Py_CLEAR(self->table);
    return 0;
}

void cell_dealloc(Cell *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    type->tp_clear((PyObject *)self);
    type->tp_free(self);
    Py_DECREF(type);
}
