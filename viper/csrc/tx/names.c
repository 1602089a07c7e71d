/* Which table and column the objects of a user's stand for. A worker has copies of its own of what the topology names, so that they
 * are matched by name once; from then on the object itself is looked up, which takes 2 ns. */
#include "record.h"

static uint32_t place_of(const Recorder *self, const PyObject *object)
{
    uint64_t spread = ((uint64_t)(uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(spread >> 32) & (self->binding_room - 1);
}

/* The place of an object, or the empty one where it is to be. There is always an empty one. */
static Binding *place(const Recorder *self, const PyObject *object)
{
    uint32_t at = place_of(self, object);
    while (self->bindings[at].object != NULL && self->bindings[at].object != object)
        at = (at + 1) & (self->binding_room - 1);
    return &self->bindings[at];
}

static int grow(Recorder *self)
{
    Binding *before = self->bindings;
    uint32_t room = self->binding_room, wanted = room ? 2 * room : 64;
    Binding *bindings = PyMem_Calloc(wanted, sizeof *bindings);
    if (bindings == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->bindings = bindings;
    self->binding_room = wanted;
    for (uint32_t i = 0; i < room; i++)
        if (before[i].object != NULL)
            *place(self, before[i].object) = before[i];
    PyMem_Free(before);
    return 0;
}

static int check(const Recorder *self, int table, int column)
{
    if (table >= 0 && table < PyTuple_GET_SIZE(self->tables) && column >= -1 && column < tx_table(self, table)->columns)
        return 0;
    PyErr_Format(PyExc_IndexError, "there is no column %d of table %d", column, table);
    return -1;
}

/* Has Python say what an object is, and remembers it. */
static int resolve(Recorder *self, PyObject *object, Binding *binding)
{
    if (self->resolve == NULL) {
        PyErr_SetString(PyExc_ValueError, "the recorder of this transaction is garbage");
        return -1;
    }
    PyObject *found = PyObject_CallOneArg(self->resolve, object);
    int failed = found == NULL || !PyArg_ParseTuple(found, "ii", &binding->table, &binding->column) ||
                 check(self, binding->table, binding->column);
    Py_XDECREF(found);
    if (failed || (2 * (self->binding_count + 1) > self->binding_room && grow(self)))
        return -1;
    Binding *at = place(self, object);
    if (at->object == NULL) {
        self->binding_count++;
        *at = (Binding){Py_NewRef(object), binding->table, binding->column};
    }
    return 0;
}

static int look_up(Recorder *self, PyObject *object, Target *target)
{
    Binding found = {0};
    if (self->binding_room)
        found = *place(self, object);
    if (found.object == NULL && resolve(self, object, &found))
        return -1;
    *target = (Target){.table = tx_table(self, found.table), .number = found.table, .column = found.column};
    return 0;
}

int tx_column(Recorder *self, PyObject *object, const char *method, Target *target)
{
    if (look_up(self, object, target))
        return -1;
    if (target->column < 0 && target->table->columns == 1)
        target->column = 0;
    if (target->column >= 0)
        return 0;
    PyObject *name = tx_column_name(target->table, 0);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "%s needs a column, such as %U: table %U has several", method, name,
                     target->table->name);
    Py_XDECREF(name);
    return -1;
}

int tx_whole(Recorder *self, PyObject *object, const char *method, Target *target)
{
    if (look_up(self, object, target))
        return -1;
    if (target->column < 0)
        return 0;
    PyObject *name = tx_column_name(target->table, target->column);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "%s needs a table, such as %U; found its column %U", method, target->table->name, name);
    Py_XDECREF(name);
    return -1;
}

int tx_names_traverse(Recorder *self, visitproc visit, void *arg)
{
    for (uint32_t i = 0; i < self->binding_room; i++)
        Py_VISIT(self->bindings[i].object);
    return 0;
}

void tx_names_clear(Recorder *self)
{
    Binding *bindings = self->bindings;
    uint32_t room = self->binding_room;
    self->bindings = NULL;
    self->binding_room = self->binding_count = 0;
    for (uint32_t i = 0; i < room; i++)
        Py_XDECREF(bindings[i].object);
    PyMem_Free(bindings);
}
