/* Running values of keys: what a row finds of the rows before it that have its key, in one pass over the rows.
 *
 * A sort by key, which vectorised code needs for that, takes some 50 ns a row with what surrounds it, this pass 1 to 3.
 */
#include "rows.h"

#include <string.h>

typedef struct {
    Py_buffer slots, state;
    const uint32_t *at;
    Py_ssize_t count;
} Running;

/* Whether there is state for all slots; asked first, so that nothing has changed where there is none. */
static int slots_fit(const Running *self)
{
    uint32_t most = 0;
    for (Py_ssize_t i = 0; i < self->count; i++)
        most = self->at[i] > most ? self->at[i] : most;
    if (self->count == 0 || most < self->state.len / (Py_ssize_t)sizeof(uint64_t))
        return 1;
    PyErr_Format(PyExc_IndexError, "slot %lu: there are values for %zd", (unsigned long)most,
                 self->state.len / (Py_ssize_t)sizeof(uint64_t));
    return 0;
}

static void running_close(Running *self)
{
    PyBuffer_Release(&self->slots);
    PyBuffer_Release(&self->state);
}

/* The buffers of slots, as uint32, and of what is remembered, 8 bytes each; -1 with an error set, and nothing to close. */
static int running_open(Running *self, PyObject *slots, PyObject *state)
{
    if (PyObject_GetBuffer(slots, &self->slots, PyBUF_SIMPLE))
        return -1;
    if (PyObject_GetBuffer(state, &self->state, PyBUF_WRITABLE)) {
        PyBuffer_Release(&self->slots);
        return -1;
    }
    self->at = self->slots.buf;
    self->count = self->slots.len / (Py_ssize_t)sizeof(uint32_t);
    if (slots_fit(self))
        return 0;
    running_close(self);
    return -1;
}

PyObject *rows_count_up(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *slots, *counts;
    Running running;
    if (!PyArg_ParseTuple(args, "OO", &slots, &counts) || running_open(&running, slots, counts))
        return NULL;
    PyObject *made = PyBytes_FromStringAndSize(NULL, running.count * (Py_ssize_t)sizeof(uint64_t));
    uint64_t *found = made == NULL ? NULL : (uint64_t *)(void *)PyBytes_AS_STRING(made), *state = running.state.buf;
    for (Py_ssize_t i = 0; found != NULL && i < running.count; i++)
        found[i] = ++state[running.at[i]];
    running_close(&running);
    return made;
}

PyObject *rows_exchange(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *slots, *latest, *made = NULL;
    Py_buffer given;
    Running running;
    if (!PyArg_ParseTuple(args, "Oy*O", &slots, &given, &latest))
        return NULL;
    if (running_open(&running, slots, latest)) {
        PyBuffer_Release(&given);
        return NULL;
    }
    if (given.len != running.count * (Py_ssize_t)sizeof(uint64_t))
        PyErr_Format(PyExc_ValueError, "%zd bytes of values for %zd slots", given.len, running.count);
    else
        made = PyBytes_FromStringAndSize(NULL, given.len);
    uint64_t *found = made == NULL ? NULL : (uint64_t *)(void *)PyBytes_AS_STRING(made), *state = running.state.buf;
    for (Py_ssize_t i = 0; found != NULL && i < running.count; i++) {
        uint64_t value; /* which need not be aligned */
        memcpy(&value, (const char *)given.buf + (size_t)i * sizeof value, sizeof value);
        found[i] = state[running.at[i]];
        state[running.at[i]] = value;
    }
    running_close(&running);
    PyBuffer_Release(&given);
    return made;
}
