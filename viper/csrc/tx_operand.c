/* Numbers and handles as operands of instructions. */
#include "tx_record.h"

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

static int refuse_foreign(const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s is a handle of another transaction; values go from one to another by tables only", what);
    return -1;
}

int tx_refuse_operand(PyObject *value, const char *what)
{
    PyErr_Format(PyExc_TypeError, "%s is a number, or made of what was read; found %.100R of type %.100s", what, value,
                 Py_TYPE(value)->tp_name);
    return -1;
}

/* -- ints beyond 64 bits: where they come up the transaction aborts, as where one is computed */

int tx_append_zero(Transaction *self)
{
    vp_tx_instruction made = {.code = VP_TX_UNEQUAL, .flags = VP_TX_REGISTER, .row = self->registers, .operand = self->registers};
    return tx_append(self, made, TX_BOOL);
}

/* 0 // 0 */
static int append_overflow(Transaction *self, Operand *operand)
{
    vp_tx_instruction made = {.code = VP_TX_DIVIDED, .row = self->registers};
    *operand = (Operand){self->registers + 1, TX_INT, 1, NULL};
    return tx_append_zero(self) || tx_append(self, made, TX_INT) ? -1 : 0;
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

int tx_operand(Transaction *self, PyObject *value, Operand *operand, const char *what)
{
    if (tx_is_handle(value)) {
        const Handle *handle = (Handle *)value;
        *operand = (Operand){handle->number, handle->kind, 1, NULL};
        return handle->transaction == self && handle->serial == self->serial ? 0 : refuse_foreign(what);
    }
    if (tx_is_wide(self, value))
        return tx_wide_operand(self, value, operand, what);
    int64_t word = 0;
    int kind = tx_plain(value, &word);
    if (kind == TX_BEYOND)
        return append_overflow(self, operand);
    *operand = (Operand){word, (char)kind, 0, NULL};
    return kind < 0 ? -1 : kind ? 0 : tx_refuse_operand(value, what);
}

int tx_to_float(Transaction *self, Operand *operand)
{
    if (operand->kind == TX_FLOAT)
        return 0;
    if (!operand->is_register) {
        for (uint32_t i = 0; operand->values != NULL && i < self->block->rows; i++)
            operand->values[i] = word_of_double((double)operand->values[i]);
        operand->word = word_of_double((double)operand->word);
        operand->kind = TX_FLOAT;
        return 0;
    }
    vp_tx_instruction made = {.code = VP_TX_TO_FLOAT, .row = (uint32_t)operand->word};
    *operand = (Operand){self->registers, TX_FLOAT, 1, NULL};
    return tx_append(self, made, TX_FLOAT);
}

int tx_fit(Transaction *self, const SharedRows *table, int column, Operand *operand)
{
    if (table->kinds[column] == TX_FLOAT)
        return tx_to_float(self, operand);
    if (operand->kind != TX_FLOAT)
        return 0;
    PyObject *name = tx_column_name(table, column);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "column %U is int64; found a float, which would have to be rounded", name);
    Py_XDECREF(name);
    return -1;
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

PyObject *tx_compute(Transaction *self, int code, Operand left, Operand right, char kind, int is_float)
{
    if (is_float && (tx_to_float(self, &left) || tx_to_float(self, &right)))
        return NULL;
    vp_tx_instruction made = {.code = (uint8_t)code, .flags = is_float ? VP_TX_FLOAT : 0};
    if (left.is_register) {
        made.flags |= right.is_register ? VP_TX_REGISTER : 0;
        made.row = (uint32_t)left.word;
        made.operand = right.word;
    } else {
        made.flags |= VP_TX_LEFT_IMMEDIATE;
        made.row = (uint32_t)right.word;
        made.operand = left.word;
    }
    const int64_t *values = left.is_register ? right.values : left.values;
    return tx_append(self, made, kind) || tx_patch(self, 0, values) ? NULL : tx_handle_new(self);
}
