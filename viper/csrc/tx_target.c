/* In which rows something is done.
 *
 * A row whose key is a number is looked up where those that were looked up before are known: 2 ns, where the table takes 25. */
#include "tx_record.h"

enum { MOST_KNOWN = 1 << 14 };

static uint32_t known_room(const SharedRows *table)
{
    uint32_t room = 64;
    while (room < MOST_KNOWN && room < 2 * table->most_rows)
        room *= 2;
    return room;
}

static Known *known_of(Recorder *self, const Target *target)
{
    if (self->known == NULL)
        self->known = PyMem_Calloc((size_t)PyTuple_GET_SIZE(self->tables), sizeof *self->known);
    if (self->known != NULL && self->known[target->number] == NULL)
        self->known[target->number] = PyMem_Calloc(known_room(target->table), sizeof **self->known);
    if (self->known == NULL || self->known[target->number] == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    return self->known[target->number];
}

void tx_known_clear(Recorder *self)
{
    for (Py_ssize_t i = 0; self->known != NULL && i < PyTuple_GET_SIZE(self->tables); i++)
        PyMem_Free(self->known[i]);
    PyMem_Free(self->known);
    self->known = NULL;
}

/* Keys that follow each other lie side by side. */
static int64_t row_of_number(Recorder *self, const Target *target, Known *known, uint32_t mask, int64_t number)
{
    Known *at = &known[((uint64_t)number ^ (uint64_t)number >> 15) & mask];
    if (at->row && at->key == number)
        return (int64_t)at->row - 1;
    tx_key_of_number(&self->scratch, number);
    int64_t row = tx_enter_key(target->table, &self->scratch, self->state_full);
    if (row >= 0)
        *at = (Known){number, (uint32_t)row + 1};
    return row;
}

static int has_numbers(const SharedRows *table)
{
    return table->is_single && table->parts_kinds[0] == TX_INT;
}

int tx_name_row(Transaction *self, Recorder *recorder, PyObject *key, Target *target)
{
    int64_t number;
    target->rows = NULL;
    if (self->block != NULL && tx_is_wide_key(self, target->table, key))
        return tx_wide_rows(self, recorder, key, target);
    if (!has_numbers(target->table) || !PyLong_CheckExact(key)) {
        target->row = tx_row(target->table, key, &recorder->scratch, recorder->state_full);
        return target->row < 0 ? -1 : 0;
    }
    Known *known = known_of(recorder, target);
    if (known == NULL)
        return -1;
    if (tx_take_int64(key, &number) != 1)
        return tx_key_make(target->table, key, &recorder->scratch); /* which refuses it */
    target->row = row_of_number(recorder, target, known, known_room(target->table) - 1, number);
    return target->row < 0 ? -1 : 0;
}

int tx_rows_of_numbers(Recorder *self, const Target *target, const int64_t *numbers, uint32_t count, uint32_t *rows)
{
    Known *known = known_of(self, target);
    uint32_t mask = known_room(target->table) - 1;
    for (uint32_t i = 0; known != NULL && i < count; i++) {
        int64_t row = row_of_number(self, target, known, mask, numbers[i]);
        if (row < 0)
            return -1;
        rows[i] = (uint32_t)row;
    }
    return known == NULL ? -1 : 0;
}

int tx_append_on(Transaction *self, int code, const Target *target, const Operand *operand, int flags, char kind)
{
    int is_float = target->column >= 0 && target->table->kinds[target->column] == TX_FLOAT;
    vp_tx_instruction made = {.code = (uint8_t)code,
                              .flags = (uint8_t)(flags | (is_float ? VP_TX_FLOAT : 0)),
                              .table = (uint8_t)target->number,
                              .column = (uint8_t)(target->column < 0 ? 0 : target->column),
                              .row = (uint32_t)target->row};
    if (operand != NULL) {
        made.flags |= operand->is_register ? VP_TX_REGISTER : 0;
        made.operand = operand->word;
    }
    if (tx_append(self, made, kind) || tx_patch(self, 1, target->rows))
        return -1;
    return operand == NULL ? 0 : tx_patch(self, 0, operand->values);
}
