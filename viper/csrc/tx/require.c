/* The conditions of a transaction. The instruction holds its index, where others have a table and a column. */
#include "record.h"

/* Whether nobody else has a handle, which a caller has no name for. Free threads cannot tell. */
static int is_nameless(PyObject *handle)
{
#if defined(Py_GIL_DISABLED)
    (void)handle;
    return 0;
#elif PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(handle);
#else
    return Py_REFCNT(handle) == 1;
#endif
}

static int append_require(Transaction *self, vp_tx_instruction required)
{
    required.table = (uint8_t)self->conditions;
    required.column = (uint8_t)(self->conditions >> 8);
    return tx_append(self, required, 0);
}

/* A comparison that was just made, and whose result nobody can ask for, becomes a condition itself. */
static int require_register(Transaction *self, PyObject *condition, uint32_t number)
{
    vp_tx_instruction *last = self->count ? &self->program[self->count - 1] : NULL;
    int is_made = last != NULL && last->code >= VP_TX_BELOW && last->code <= VP_TX_UNEQUAL && number == self->registers - 1;
    if (!is_made || !is_nameless(condition))
        return append_require(self, (vp_tx_instruction){.code = VP_TX_REQUIRE, .row = number});
    vp_tx_instruction required = *last;
    required.code = (uint8_t)(last->code - VP_TX_BELOW + VP_TX_REQUIRE_BELOW);
    self->count--;
    self->registers--;
    return append_require(self, required);
}

static int require_handle(Transaction *self, PyObject *condition)
{
    Operand operand;
    if (tx_operand(self, condition, &operand, "the condition"))
        return -1;
    if (operand.kind == TX_BOOL && operand.is_register)
        return require_register(self, condition, (uint32_t)operand.word);
    PyErr_SetString(PyExc_TypeError, "require takes a condition, such as balance >= 5; found a number");
    return -1;
}

/* What is known of each row before: 0 is to be unequal to it. */
static int require_values(Transaction *self, PyObject *condition)
{
    Operand operand;
    if (tx_wide_operand(self, condition, &operand, "the condition"))
        return -1;
    if (operand.kind != TX_BOOL) {
        PyErr_SetString(PyExc_TypeError, "require takes a condition, or an array of bools; found one of numbers");
        return -1;
    }
    vp_tx_instruction required = {.code = VP_TX_REQUIRE_UNEQUAL, .row = self->registers};
    return tx_append_zero(self) || append_require(self, required) || tx_patch(self, 0, operand.values) ? -1 : 0;
}

static int require_one(Transaction *self, PyObject *condition)
{
    if (condition == Py_True)
        return 0;
    if (condition == Py_False) {
        vp_tx_instruction required = {.code = VP_TX_REQUIRE, .row = self->registers};
        return tx_append_zero(self) || append_require(self, required) ? -1 : 0;
    }
    if (tx_is_wide(self, condition))
        return require_values(self, condition);
    int64_t word;
    if (!tx_is_handle(condition) && !PyIndex_Check(condition) && tx_plain(condition, &word) == TX_BOOL) /* numpy's */
        return require_one(self, word ? Py_True : Py_False);
    return require_handle(self, condition);
}

PyObject *tx_require(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 1 && (count != 2 || !(args[1] == Py_None || PyUnicode_Check(args[1])))) {
        PyErr_SetString(PyExc_TypeError, "require takes (condition[, reason]), and the reason is a text");
        return NULL;
    }
    Recorder *recorder = tx_enter(self);
    if (recorder == NULL)
        return NULL;
    self->conditions += self->conditions < UINT16_MAX;
    int failed = require_one(self, args[0]);
    if (!failed && count == 2 && args[1] != Py_None && args[0] != Py_True)
        failed = self->block == NULL ? tx_reason_add(recorder, self->conditions, args[1])
                                     : tx_block_reason(self->block, self->conditions, args[1]);
    tx_leave(recorder);
    return failed ? NULL : Py_NewRef(Py_None);
}
