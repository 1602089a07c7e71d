/* Transactions written into the log.
 *
 * What the log has no room for waits in memory of the process, in the same form; nobody knows of it yet. So does what may be in
 * the log already, as a predecessor has published it: see replay.c. */
#include "record.h"

enum { MOST = UINT16_MAX };

/* -- which tuple */

/* Whether a text is a number in digits. */
static int is_decimal(PyObject *text, uint64_t number)
{
    if (!PyUnicode_CheckExact(text) || !PyUnicode_IS_COMPACT_ASCII(text))
        return 0;
    const Py_UCS1 *digits = PyUnicode_1BYTE_DATA(text);
    for (Py_ssize_t i = PyUnicode_GET_LENGTH(text); i-- > 0; number /= 10)
        if (digits[i] != '0' + number % 10 || (number == 0 && PyUnicode_GET_LENGTH(text) > 1))
            return 0;
    return number == 0;
}

static int check_tuple(const Recorder *self, PyObject *tup)
{
    const Inbox *inbox = self->inbox;
    if (self->recording != TX_TUPLES || !inbox->open) {
        PyErr_SetString(PyExc_RuntimeError, "transactions are said while a tuple is processed: in process or process_rows");
        return -1;
    }
    if (self->transaction->state == TX_OPEN) {
        PyErr_SetString(PyExc_RuntimeError, "a transaction is said within the block of another one, which is not over");
        return -1;
    }
    if (PyTuple_Check(tup) && PyTuple_GET_SIZE(tup) && is_decimal(PyTuple_GET_ITEM(tup, 0), inbox->last_id))
        return 0;
    PyErr_Format(PyExc_ValueError, "a transaction is one of the tuple in process, whose id is '%llu'; found %.200R",
                 (unsigned long long)inbox->last_id, tup);
    return -1;
}

int tx_log_begin(Recorder *self, PyObject *tup)
{
    if (check_tuple(self, tup))
        return -1;
    uint32_t input = self->base + (uint32_t)(self->inbox->handed - 1);
    if (!self->has_input || input != self->input) {
        self->has_input = 1;
        self->input = input;
        self->ordinal = 0;
        tx_log_mark(self, &self->input_mark);
    }
    tx_log_mark(self, &self->block_mark);
    return 0;
}

/* -- back */

void tx_log_mark(const Recorder *self, Mark *mark)
{
    *mark = (Mark){self->at, self->recorded, self->waiting_end, self->reason_count, PyList_GET_SIZE(self->functions)};
}

void tx_log_back(Recorder *self, const Mark *mark)
{
    self->at = mark->at;
    self->recorded = mark->recorded;
    self->waiting_end = mark->waiting;
    while (self->reason_count > mark->reasons && self->reason_count > self->reason_first)
        Py_DECREF(self->reasons[--self->reason_count].text);
    if (self->next_function > mark->functions)
        self->next_function = mark->functions;
    if (PyList_GET_SIZE(self->functions) > mark->functions &&
        PyList_SetSlice(self->functions, mark->functions, PY_SSIZE_T_MAX, NULL))
        PyErr_WriteUnraisable((PyObject *)self); /* no list grows by a deletion */
}

int tx_reason_add(Recorder *self, uint32_t condition, PyObject *text)
{
    if (self->reason_count == self->reason_room) {
        Py_ssize_t room = self->reason_room ? 2 * self->reason_room : 64;
        Reason *reasons = PyMem_Realloc(self->reasons, (size_t)room * sizeof *reasons);
        if (reasons == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->reasons = reasons;
        self->reason_room = room;
    }
    self->reasons[self->reason_count++] = (Reason){self->recorded, condition, Py_NewRef(text)};
    return 0;
}

/* -- written */

static char *room_for_waiting(Recorder *self, size_t size)
{
    if (self->waiting_end + size > self->waiting_room) {
        size_t room = 2 * (self->waiting_end + size);
        char *waiting = PyMem_Realloc(self->waiting, room < 4096 ? 4096 : room);
        if (waiting == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        self->waiting = waiting;
        self->waiting_room = room < 4096 ? 4096 : room;
    }
    char *place = self->waiting + self->waiting_end;
    self->waiting_end += size;
    return place;
}

void *tx_log_room(Recorder *self, size_t size)
{
    if (self->waiting_first == self->waiting_end && self->at >= self->replay_end) {
        uint64_t at = self->at;
        void *place = vp_txlog_room(self->log, &at, size);
        if (place != NULL) {
            self->at = at + size;
            return place;
        }
    }
    return room_for_waiting(self, size);
}

int tx_check_size(const Recorder *self, size_t size, uint32_t count, uint32_t registers)
{
    if (count > MOST || registers > MOST || self->ordinal > MOST) {
        PyErr_Format(PyExc_ValueError,
                     "a transaction has at most %d operations and results, and a tuple as many transactions; found operation %lu, "
                     "transaction %lu",
                     MOST, (unsigned long)count, (unsigned long)self->ordinal + 1);
        return -1;
    }
    if (size <= self->capacity / 2)
        return 0;
    PyErr_Format(self->log_full,
                 "a transaction of %lu operations takes %zu bytes, and its task's log of %llu bytes has room for %llu at once",
                 (unsigned long)count, size, (unsigned long long)self->capacity, (unsigned long long)self->capacity / 2);
    return -1;
}

vp_tx *tx_log_add(Recorder *self, int kind, const vp_tx_instruction *program, uint32_t count, uint32_t registers)
{
    size_t words = (registers + 1u) & ~(size_t)1;
    size_t size = sizeof(vp_tx) + words * sizeof(int64_t) + count * sizeof *program;
    if (tx_check_size(self, size, count, registers))
        return NULL;
    vp_tx *tx = tx_log_room(self, size);
    if (tx == NULL)
        return NULL;
    *tx = (vp_tx){.size = (uint32_t)size,
                  .kind = (uint16_t)kind,
                  .ordinal = (uint16_t)self->ordinal,
                  .registers = (uint16_t)registers,
                  .program = (uint16_t)count,
                  .input = self->input};
    memset(tx + 1, 0, words * sizeof(int64_t));
    if (count)
        memcpy((char *)(tx + 1) + words * sizeof(int64_t), program, count * sizeof *program);
    self->recorded++;
    self->ordinal++;
    return tx;
}
