/* What Python objects export through the Arrow C data interface. */
#include "exporting.h"

static int take(Exported *self)
{
    if (!PyTuple_Check(self->capsules) || PyTuple_GET_SIZE(self->capsules) != 2) {
        PyErr_Format(PyExc_TypeError, "__arrow_c_array__ returned %R, expected two capsules", self->capsules);
        return -1;
    }
    self->schema = PyCapsule_GetPointer(PyTuple_GET_ITEM(self->capsules, 0), "arrow_schema");
    if (self->schema == NULL)
        return -1;
    self->array = PyCapsule_GetPointer(PyTuple_GET_ITEM(self->capsules, 1), "arrow_array");
    return self->array == NULL ? -1 : 0;
}

int exported_open(Exported *self, PyObject *exporter)
{
    self->capsules = PyObject_CallMethod(exporter, "__arrow_c_array__", NULL);
    if (self->capsules == NULL)
        return -1;
    if (take(self)) {
        Py_CLEAR(self->capsules);
        return -1;
    }
    return 0;
}

void exported_close(Exported *self)
{
    Py_CLEAR(self->capsules);
}
