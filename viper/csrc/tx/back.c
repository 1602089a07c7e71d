/* Results, called back in the order of inputs. */
#include "record.h"

/* Up to where transactions of placed inputs are evaluated, and not beyond what is recorded: a successor's log may hold more. */
static uint64_t evaluated(const Recorder *self)
{
    uint64_t evaluated = vp_txlog_evaluated(self->log);
    return evaluated < self->placed ? evaluated : self->placed;
}

static const vp_tx *placed_at(const Recorder *self, uint64_t at)
{
    if (at < self->placed)
        return vp_txlog_tx(self->log, &at);
    return self->waiting_first < self->waiting_placed ? (vp_tx *)(self->waiting + self->waiting_first) : NULL;
}

const vp_tx *tx_oldest(const Recorder *self)
{
    return placed_at(self, self->called);
}

int64_t tx_evaluated_inputs(const Recorder *self)
{
    uint64_t at = evaluated(self);
    const vp_tx *next = placed_at(self, at > self->called ? at : self->called);
    return (uint32_t)((next == NULL ? self->base : next->input) - self->oldest);
}

/* -- why one was aborted */

static PyObject *reason_of_condition(const Recorder *self, const vp_tx *tx)
{
    uint32_t condition = tx_condition(&tx_program(tx)[tx->at]);
    for (Py_ssize_t i = self->reason_first; i < self->reason_count && self->reasons[i].transaction == self->taken; i++)
        if (self->reasons[i].condition == condition)
            return Py_NewRef(self->reasons[i].text);
    return PyUnicode_FromFormat("condition %u", condition);
}

PyObject *tx_reason_missing(PyObject *tables, uint32_t table, uint32_t row)
{
    uint64_t length;
    if (table >= PyTuple_GET_SIZE(tables))
        return PyUnicode_FromString("no row");
    const SharedRows *of = (SharedRows *)PyTuple_GET_ITEM(tables, table);
    const unsigned char *data = vp_shared_key(of->rows, row, &length);
    PyObject *key = data == NULL ? Py_NewRef(Py_None) : tx_key_value(of, data, length);
    PyObject *text = key == NULL ? NULL : PyUnicode_FromFormat("no row %R in %U", key, of->name);
    Py_XDECREF(key);
    return text;
}

/* NULL with an error set, or without one if it was not aborted. */
static PyObject *reason_of(const Recorder *self, const vp_tx *tx)
{
    int is_known = tx->at < tx->program;
    switch (tx->status) {
    case VP_TX_DONE:
        return NULL;
    case VP_TX_FAILED_CONDITION:
        return is_known ? reason_of_condition(self, tx) : PyUnicode_FromString("a condition");
    case VP_TX_MISSING:
        return tx_reason_missing(self->tables, is_known ? tx_program(tx)[tx->at].table : UINT32_MAX,
                                 is_known ? tx_program(tx)[tx->at].row : 0);
    case VP_TX_OVERFLOW:
        return PyUnicode_FromString("overflow");
    default:
        PyErr_Format(PyExc_SystemError, "a transaction has status %u", tx->status);
        return NULL;
    }
}

static PyObject *result_of(Recorder *self, const vp_tx *tx)
{
    if (tx->kind == VP_TX_ALONE)
        return tx_alone_result(self, tx);
    PyObject *reason = reason_of(self, tx);
    if (reason == NULL && PyErr_Occurred())
        return NULL;
    return tx_result_new(self->result_type, tx, reason);
}

/* -- one input after the other */

const vp_tx *tx_next_taken(const Recorder *self, uint64_t *at)
{
    uint64_t end = evaluated(self);
    if (*at >= end)
        return NULL;
    const vp_tx *tx = vp_txlog_tx(self->log, at);
    if (*at >= end || tx->input != self->oldest) /* there may have been nothing but a pad before the end */
        return NULL;
    *at += tx->size;
    return tx;
}

static void forget_reasons(Recorder *self)
{
    while (self->reason_first < self->reason_count && self->reasons[self->reason_first].transaction <= self->taken)
        Py_DECREF(self->reasons[self->reason_first++].text);
}

static Py_ssize_t count_results(const Recorder *self)
{
    Py_ssize_t count = 0;
    for (uint64_t at = self->called; tx_next_taken(self, &at) != NULL;)
        count++;
    return count;
}

PyObject *tx_take_results(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    if (self->batch_first < self->batch_count) {
        PyErr_SetString(PyExc_RuntimeError, "the results of a batch's rows are taken by take_rows");
        return NULL;
    }
    if (tx_evaluated_inputs(self) < 1) {
        PyErr_SetString(PyExc_IndexError, "no tuple is left whose transactions are all evaluated");
        return NULL;
    }
    PyObject *results = PyTuple_New(count_results(self));
    for (Py_ssize_t i = 0; results != NULL && i < PyTuple_GET_SIZE(results); i++) {
        uint64_t at = self->called;
        PyObject *result = result_of(self, tx_next_taken(self, &at));
        if (result == NULL) {
            Py_DECREF(results);
            return NULL;
        }
        PyTuple_SET_ITEM(results, i, result);
        self->called = at;
        forget_reasons(self);
        self->taken++;
    }
    if (results != NULL)
        self->oldest++;
    return results;
}

PyObject *tx_release(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    /* What a predecessor has left is nobody's to call back, and is evaluated all the same. */
    uint64_t evaluated = vp_txlog_evaluated(self->log), end = self->called < evaluated ? self->called : evaluated;
    if (end > vp_txlog_head(self->log))
        vp_txlog_release(self->log, end);
    Py_RETURN_NONE;
}
