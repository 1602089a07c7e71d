/* Who is told of rows that a task's thread does not see come. */
#include "rows.h"

int rows_call(PyObject *function)
{
    PyObject *result = PyObject_CallObject(function, NULL);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

int rows_outbox_tell(Outbox *self)
{
    return PyThread_get_thread_ident() == self->silent_thread ? 0 : rows_call(self->on_row);
}

PyObject *rows_outbox_watch(Outbox *self, PyObject *args)
{
    unsigned long thread;
    PyObject *call, *before;
    if (!PyArg_ParseTuple(args, "kO", &thread, &call))
        return NULL;
    Py_BEGIN_CRITICAL_SECTION(self);
    before = self->on_row;
    self->on_row = Py_NewRef(call);
    self->silent_thread = thread;
    Py_END_CRITICAL_SECTION();
    Py_XDECREF(before);
    Py_RETURN_NONE;
}
