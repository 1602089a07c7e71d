/* Transactions written into the log, or compared with those that a predecessor has written there.
 *
 * What the log has no room for waits in memory of the process, in the same form; nobody knows of it yet. What a predecessor
 * has published, and whose inputs it had not released, is recorded again and is there already. */
#include "tx.h"

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
    if (!self->recording || !inbox->open) {
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

void tx_log_reset(Recorder *self, uint64_t head)
{
    Mark nothing = {head, 0, 0, 0, 0};
    tx_log_back(self, &nothing);
    self->waiting_first = self->waiting_placed = 0;
    self->reason_first = self->reason_count = 0;
    self->first_function = 0;
    self->placed = self->called = head;
    self->told = self->replay_end = vp_txlog_tail(self->log);
    self->taken = 0;
    self->base = self->oldest = 0;
    self->has_input = self->recording = 0;
    self->transaction->state = TX_IDLE;
    Py_CLEAR(self->divergence);
}

/* -- compared with a predecessor's */

int tx_diverged(Recorder *self, const vp_tx *found, const char *what)
{
    PyObject *message = PyUnicode_FromFormat(
        "the transactions of the tuple at position (%lld, %llu, %llu) are others than those that were said before the worker died: "
        "%s. A bolt with tables has to say the same for the same tuple again",
        (long long)found->ts, (unsigned long long)found->hi, (unsigned long long)found->lo, what);
    if (message != NULL)
        PyErr_SetObject(self->diverged, message);
    Py_XSETREF(self->divergence, message);
    return -1;
}

static int differs_in_program(Recorder *self, const vp_tx *found, const vp_tx_instruction *program, uint32_t count)
{
    const vp_tx_instruction *before = tx_program(found);
    char what[100];
    uint32_t i = 0;
    while (i < count && i < found->program && memcmp(&before[i], &program[i], sizeof *program) == 0)
        i++;
    if (i == count && i == found->program)
        return 0;
    PyOS_snprintf(what, sizeof what, "transaction %u differs from its operation %lu on (%u operations then, %lu now)",
                  found->ordinal + 1u, (unsigned long)i + 1, found->program, (unsigned long)count);
    return tx_diverged(self, found, what);
}

/* The transaction that a predecessor has said there, if it is the same; NULL with an error set. */
static vp_tx *compared(Recorder *self, int kind, const vp_tx_instruction *program, uint32_t count, uint32_t registers)
{
    uint64_t at = self->at;
    char what[100];
    vp_tx *found = vp_txlog_tx(self->log, &at);
    if (found->ordinal != self->ordinal) {
        PyOS_snprintf(what, sizeof what, "it was number %u of its tuple, and is number %lu", found->ordinal + 1u,
                      (unsigned long)self->ordinal + 1);
        tx_diverged(self, found, what);
        return NULL;
    }
    if (found->kind != kind) {
        tx_diverged(self, found, kind == VP_TX_ALONE ? "a function is to run alone where operations were said"
                                                     : "operations are said where a function was to run alone");
        return NULL;
    }
    if (differs_in_program(self, found, program, count))
        return NULL;
    if (found->registers != registers) { /* of the same operations there are as many */
        tx_diverged(self, found, "it has another number of results");
        return NULL;
    }
    found->input = self->input; /* nobody else reads it */
    self->at = at + found->size;
    return found;
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

static void *room_for(Recorder *self, size_t size)
{
    if (self->waiting_first == self->waiting_end) {
        uint64_t at = self->at;
        void *place = vp_txlog_room(self->log, &at, size);
        if (place != NULL) {
            self->at = at + size;
            return place;
        }
    }
    return room_for_waiting(self, size);
}

static int check_size(const Recorder *self, size_t size, uint32_t count, uint32_t registers)
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

static vp_tx *written(Recorder *self, int kind, const vp_tx_instruction *program, uint32_t count, uint32_t registers)
{
    size_t words = (registers + 1u) & ~(size_t)1;
    size_t size = sizeof(vp_tx) + words * sizeof(int64_t) + count * sizeof *program;
    if (check_size(self, size, count, registers))
        return NULL;
    vp_tx *tx = room_for(self, size);
    if (tx == NULL)
        return NULL;
    *tx = (vp_tx){.size = (uint32_t)size,
                  .kind = (uint16_t)kind,
                  .ordinal = (uint16_t)self->ordinal,
                  .registers = (uint16_t)registers,
                  .program = (uint16_t)count,
                  .input = self->input};
    memset(tx + 1, 0, words * sizeof(int64_t));
    memcpy((char *)(tx + 1) + words * sizeof(int64_t), program, count * sizeof *program);
    return tx;
}

vp_tx *tx_log_add(Recorder *self, int kind, const vp_tx_instruction *program, uint32_t count, uint32_t registers)
{
    vp_tx *tx = self->at < self->replay_end ? compared(self, kind, program, count, registers)
                                            : written(self, kind, program, count, registers);
    if (tx != NULL) {
        self->recorded++;
        self->ordinal++;
    }
    return tx;
}
