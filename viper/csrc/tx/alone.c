/* Functions that run alone: known to the process that wants them, as is what they return.
 *
 * What a function returns stands in the log too, as bytes, where there is room for it. So a successor has it, which does not
 * run the function again. */
#include "record.h"

enum { TOO_LARGE = -1, BYTES = (TX_ALONE_WORDS - 1) * sizeof(int64_t) };

/* The result of one that has run, as (whether it returned, value or reason); None where it was too large. */
static PyObject *outcome_in_log(const Recorder *self, const vp_tx *tx)
{
    const int64_t *words = tx_words(tx);
    if (words[0] < 0 || words[0] > BYTES)
        return Py_NewRef(Py_None);
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)(words + 1), (Py_ssize_t)words[0]);
    PyObject *outcome = bytes == NULL ? NULL : PyObject_CallOneArg(self->loads, bytes);
    Py_XDECREF(bytes);
    return outcome;
}

PyObject *tx_alone(Recorder *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyCallable_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "alone takes the tuple in process, and a function of a view of the tables");
        return NULL;
    }
    if (tx_log_begin(self, args[0]))
        return NULL;
    if (tx_log_add(self, VP_TX_ALONE, NULL, 0, TX_ALONE_WORDS) == NULL || PyList_Append(self->functions, args[1])) {
        tx_log_back(self, &self->block_mark);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Takes the result of one that has run for a predecessor, whose transaction is the next; -1 with an error set. */
int tx_know_alone(Recorder *self, const vp_tx *tx)
{
    if (self->at > vp_txlog_evaluated(self->log))
        return 0;
    PyObject *outcome = outcome_in_log(self, tx);
    if (outcome == NULL || PyList_SetItem(self->functions, self->next_function, outcome))
        return -1;
    self->next_function++;
    return 0;
}

/* The first transaction of the log that is not evaluated, if it is a function's that was recorded; else NULL. */
static vp_tx *known_alone(const Recorder *self)
{
    uint64_t at = vp_txlog_evaluated(self->log);
    vp_tx *tx = at < self->placed ? vp_txlog_tx(self->log, &at) : NULL;
    return tx != NULL && tx->kind == VP_TX_ALONE && self->next_function < PyList_GET_SIZE(self->functions) ? tx : NULL;
}

/* A successor may repeat less at once than its predecessor had published, and what it repeats waits for the function: so
 * it may not wait until it has repeated all. Nobody evaluates beyond a function, so that is the first one that comes. */
int tx_may_run_alone(const Recorder *self)
{
    return self->at >= self->replay_end || known_alone(self) != NULL;
}

/* The transaction whose turn it is, if it is a function's that was recorded; NULL with an error set. */
static vp_tx *waiting_alone(const Recorder *self)
{
    vp_tx *tx = known_alone(self);
    if (tx == NULL)
        PyErr_SetString(PyExc_RuntimeError, "no function of this task's is to run alone now");
    return tx;
}

PyObject *tx_next_alone(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    return waiting_alone(self) == NULL ? NULL : Py_NewRef(PyList_GET_ITEM(self->functions, self->next_function));
}

PyObject *tx_note_alone(Recorder *self, PyObject *args)
{
    PyObject *outcome;
    const char *data;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "O!y#", &PyTuple_Type, &outcome, &data, &size))
        return NULL;
    if (PyTuple_GET_SIZE(outcome) != 2) {
        PyErr_SetString(PyExc_ValueError, "what a function came to is whether it returned, and its value or the reason");
        return NULL;
    }
    const vp_tx *tx = waiting_alone(self);
    if (tx == NULL)
        return NULL;
    int64_t *words = tx_words(tx);
    words[0] = size > BYTES ? TOO_LARGE : size;
    if (size <= BYTES)
        memcpy(words + 1, data, (size_t)size);
    if (PyList_SetItem(self->functions, self->next_function, Py_NewRef(outcome)))
        return NULL;
    self->next_function++;
    Py_RETURN_NONE;
}

static PyObject *refuse_lost(const Recorder *self, const vp_tx *tx)
{
    PyErr_Format(self->lost,
                 "what a function that ran alone returned for the tuple at position (%lld, %llu, %llu) is lost with the worker that "
                 "died: it took more than %d bytes, and was not called back",
                 (long long)tx->ts, (unsigned long long)tx->hi, (unsigned long long)tx->lo, (int)BYTES);
    return NULL;
}

PyObject *tx_alone_result(Recorder *self, const vp_tx *tx)
{
    if (self->first_function >= self->next_function) {
        PyErr_SetString(PyExc_SystemError, "a function counts as run that was not");
        return NULL;
    }
    PyObject *outcome = PyList_GET_ITEM(self->functions, self->first_function);
    if (!PyTuple_Check(outcome) || PyTuple_GET_SIZE(outcome) != 2)
        return refuse_lost(self, tx);
    int is_value = PyTuple_GET_ITEM(outcome, 0) == Py_True;
    PyObject *made = Py_NewRef(PyTuple_GET_ITEM(outcome, 1));
    PyObject *result = tx_result_alone(self->result_type, is_value ? made : NULL, is_value ? NULL : made);
    if (result == NULL)
        return NULL;
    self->first_function++;
    if (PyList_SetItem(self->functions, self->first_function - 1, Py_NewRef(Py_None))) /* nobody needs it here any more */
        Py_CLEAR(result);
    return result;
}
