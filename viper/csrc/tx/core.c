/* Handles and instructions, as far as all other files of transactions need them. */
#include "record.h"

/* -- handles */

void tx_handle_dealloc(Handle *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    Py_DECREF((PyObject *)self->transaction);
    PyObject_Free(self);
    Py_DECREF(type);
}

int tx_is_handle(PyObject *candidate)
{
    return Py_TYPE(candidate)->tp_dealloc == (destructor)tx_handle_dealloc;
}

PyObject *tx_handle_new(Transaction *self)
{
    Handle *handle = PyObject_New(Handle, self->handle_type);
    if (handle == NULL)
        return NULL;
    handle->transaction = (Transaction *)Py_NewRef((PyObject *)self);
    handle->serial = self->serial;
    handle->number = self->registers - 1;
    handle->kind = self->kinds[handle->number];
    handle->block = self->block == NULL ? 0 : self->block->number;
    return (PyObject *)handle;
}

/* -- instructions */

Recorder *tx_enter(Transaction *self)
{
    if (self->state == TX_OPEN && self->recorder != NULL)
        return (Recorder *)Py_NewRef((PyObject *)self->recorder);
    PyErr_SetString(PyExc_ValueError, self->state == TX_BEGUN
                                          ? "a transaction is said within its block: with self.transaction(tup) as t"
                                          : "the transaction's block is over");
    return NULL;
}

int tx_append(Transaction *self, vp_tx_instruction instruction, char kind)
{
    if (self->count == self->room) {
        uint32_t room = self->room ? 2 * self->room : 64;
        vp_tx_instruction *program = PyMem_Realloc(self->program, room * sizeof *program);
        if (program == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->program = program;
        self->room = room;
    }
    if (kind && self->registers == self->kinds_room) {
        uint32_t room = self->kinds_room ? 2 * self->kinds_room : 64;
        char *kinds = PyMem_Realloc(self->kinds, room);
        if (kinds == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->kinds = kinds;
        self->kinds_room = room;
    }
    self->program[self->count++] = instruction;
    if (kind)
        self->kinds[self->registers++] = kind;
    return 0;
}

int tx_patch(Transaction *self, int is_row, const void *values)
{
    Block *block = self->block;
    if (values == NULL)
        return 0;
    if (block->patch_count == block->patch_room) {
        uint32_t room = block->patch_room ? 2 * block->patch_room : 16;
        Patch *patches = PyMem_Realloc(block->patches, room * sizeof *patches);
        if (patches == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        block->patches = patches;
        block->patch_room = room;
    }
    block->patches[block->patch_count++] = (Patch){self->count - 1, is_row, values};
    return 0;
}

int tx_refuse_operand(PyObject *value, const char *what)
{
    PyErr_Format(PyExc_TypeError, "%s is a number, or made of what was read; found %.100R of type %.100s", what, value,
                 Py_TYPE(value)->tp_name);
    return -1;
}

int tx_append_zero(Transaction *self)
{
    vp_tx_instruction made = {.code = VP_TX_UNEQUAL, .flags = VP_TX_REGISTER, .row = self->registers, .operand = self->registers};
    return tx_append(self, made, TX_BOOL);
}

/* (0 + word) // 1, and // 0 for rows with an int that does not fit. */
int tx_append_fitting(Transaction *self, Operand *operand, const int64_t *fits)
{
    vp_tx_instruction plus = {.code = VP_TX_PLUS, .row = self->registers};
    vp_tx_instruction divided = {.code = VP_TX_DIVIDED, .row = self->registers + 1};
    const int64_t *words = operand->values;
    *operand = (Operand){self->registers + 2, operand->kind, 1, NULL};
    if (tx_append_zero(self) || tx_append(self, plus, TX_INT) || tx_patch(self, 0, words))
        return -1;
    return tx_append(self, divided, operand->kind) || tx_patch(self, 0, fits) ? -1 : 0;
}
