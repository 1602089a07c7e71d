/* Numbers and handles as operands of instructions. */
#include "record.h"

static int refuse_foreign(const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s is a handle of another transaction; values go from one to another by tables only", what);
    return -1;
}

/* -- ints beyond 64 bits: where they come up the transaction aborts, as where one is computed */

/* 0 // 0 */
static int append_overflow(Transaction *self, Operand *operand)
{
    vp_tx_instruction made = {.code = VP_TX_DIVIDED, .row = self->registers};
    *operand = (Operand){self->registers + 1, TX_INT, 1, NULL};
    return tx_append_zero(self) || tx_append(self, made, TX_INT) ? -1 : 0;
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
