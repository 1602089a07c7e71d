/* The positions of transactions, and telling them to those who evaluate.
 *
 * Transactions are recorded while their tuples are processed, which know no positions; those are filled in for a whole load. */
#include "record.h"

#include "viper/position.h"

static int compare(const vp_tx *tx, vp_position position)
{
    if (tx->ts != position.ts)
        return tx->ts < position.ts ? -1 : 1;
    if (tx->hi != position.hi)
        return tx->hi < position.hi ? -1 : 1;
    return tx->lo == position.lo ? 0 : tx->lo < position.lo ? -1 : 1;
}

static void set_position(vp_tx *tx, vp_position position)
{
    tx->ts = position.ts;
    tx->hi = position.hi;
    tx->lo = position.lo;
}

/* Lets go of what was taken from the front of lists. */
static int compact(Recorder *self)
{
    if (self->reason_first && 2 * self->reason_first >= self->reason_count) {
        self->reason_count -= self->reason_first;
        memmove(self->reasons, self->reasons + self->reason_first, (size_t)self->reason_count * sizeof *self->reasons);
        self->reason_first = 0;
    }
    Py_ssize_t gone = self->first_function;
    if (2 * gone <= PyList_GET_SIZE(self->functions))
        return 0;
    self->first_function = 0;
    self->next_function -= gone;
    return PyList_SetSlice(self->functions, 0, gone, NULL);
}

PyObject *tx_start(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    if (self->recording) {
        PyErr_SetString(PyExc_RuntimeError, "what was recorded since the last start has no positions yet: call place first");
        return NULL;
    }
    if (compact(self))
        return NULL;
    self->recording = self->inbox != NULL ? TX_TUPLES : TX_OFF; /* NULL: it is garbage */
    self->has_input = 0;
    Py_RETURN_NONE;
}

/* Room for another batch, behind those that are left. */
static int make_room(Recorder *self)
{
    if (self->batch_first) {
        self->batch_count -= self->batch_first;
        memmove(self->batches, self->batches + self->batch_first, self->batch_count * sizeof *self->batches);
        self->batch_first = 0;
    }
    if (self->batch_count < self->batch_room)
        return 0;
    uint32_t room = self->batch_room ? 2 * self->batch_room : 8;
    Batch *batches = PyMem_Realloc(self->batches, room * sizeof *batches);
    if (batches == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->batches = batches;
    self->batch_room = room;
    return 0;
}

PyObject *tx_start_rows(Recorder *self, PyObject *count)
{
    unsigned long rows = PyLong_AsUnsignedLong(count);
    if (PyErr_Occurred())
        return NULL;
    if (rows > UINT32_MAX / 2) {
        PyErr_Format(PyExc_ValueError, "a batch of %lu rows is too large", rows);
        return NULL;
    }
    PyObject *started = tx_start(self, NULL);
    if (started == NULL || make_room(self)) {
        Py_XDECREF(started);
        self->recording = TX_OFF;
        return NULL;
    }
    self->recording = TX_ROWS;
    self->batches[self->batch_count++] = (Batch){.first = self->base, .rows = (uint32_t)rows};
    return started;
}

/* -- positions */

static void place_logged(Recorder *self, const vp_positions *positions, uint64_t first)
{
    uint64_t at = self->placed;
    while (at < self->at) {
        vp_tx *tx = vp_txlog_tx(self->log, &at);
        set_position(tx, vp_positions_at(positions, first + (tx->input - self->base)));
        at += tx->size;
    }
    self->placed = at;
}

static void place_waiting(Recorder *self, const vp_positions *positions, uint64_t first)
{
    while (self->waiting_placed < self->waiting_end) {
        vp_tx *tx = (vp_tx *)(self->waiting + self->waiting_placed);
        set_position(tx, vp_positions_at(positions, first + (tx->input - self->base)));
        self->waiting_placed += tx->size;
    }
}

PyObject *tx_place(Recorder *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "place takes the address of positions, and the index of the first");
        return NULL;
    }
    const vp_positions *positions = PyLong_AsVoidPtr(args[0]);
    unsigned long long first = positions == NULL ? 0 : PyLong_AsUnsignedLongLong(args[1]);
    uint64_t handed = self->recording == TX_ROWS ? tx_batch(self)->rows
                      : self->recording      ? (uint64_t)self->inbox->handed
                                             : 0;
    if (PyErr_Occurred())
        return NULL;
    if (positions == NULL || first > positions->length || handed > positions->length - first) {
        PyErr_Format(PyExc_IndexError, "there are no positions of %llu tuples from index %llu on", (unsigned long long)handed, first);
        return NULL;
    }
    if (!self->recording) {
        PyErr_SetString(PyExc_RuntimeError, "nothing is recorded that could be placed: call start first");
        return NULL;
    }
    if (self->transaction->state == TX_OPEN) {
        PyErr_SetString(PyExc_RuntimeError, "a transaction is still being said");
        return NULL;
    }
    if (self->recording == TX_ROWS) {
        if (tx_batch_place(self, positions, first))
            return NULL;
    } else {
        place_logged(self, positions, first);
        place_waiting(self, positions, first);
    }
    if (handed && tx_replay(self, vp_positions_at(positions, first + handed - 1)))
        return NULL;
    self->base += (uint32_t)handed;
    self->recording = TX_OFF;
    self->has_input = 0;
    Py_RETURN_NONE;
}

/* -- telling */

static vp_position position_of(const vp_tx *tx)
{
    return (vp_position){tx->ts, tx->hi, tx->lo, 0};
}

/* Whether there will never be room for the first that waits: the oldest one in the log is not below it, and so waits for it. */
static int is_hopeless(const Recorder *self, const vp_tx *first)
{
    uint64_t head = vp_txlog_head(self->log), tail = vp_txlog_tail(self->log);
    if (head == tail || vp_txlog_evaluated(self->log) > head ||
        compare(first, vp_txlog_is_collected(self->log)) < 0) /* it is late, and evaluated whatever else is */
        return 0;
    return compare(vp_txlog_tx(self->log, &head), position_of(first)) >= 0;
}

static int refuse_full(const Recorder *self, const vp_tx *first)
{
    PyErr_Format(self->log_full,
                 "the transactions of the tuple at position (%lld, %llu, %llu) take more than the %llu bytes of their task's log; "
                 "they have to be evaluated together",
                 (long long)first->ts, (unsigned long long)first->hi, (unsigned long long)first->lo,
                 (unsigned long long)self->capacity);
    return -1;
}

/* Moves what waits into the log: 1 if nothing is left, 0 if it has no room, -1 with an error set. */
static int move_waiting(Recorder *self)
{
    while (self->waiting_first < self->waiting_end) {
        const vp_tx *tx = (vp_tx *)(self->waiting + self->waiting_first);
        uint64_t at = self->at;
        void *place = vp_txlog_room(self->log, &at, tx->size);
        if (place == NULL)
            return is_hopeless(self, tx) ? refuse_full(self, tx) : 0;
        memcpy(place, tx, tx->size);
        self->at = self->placed = at + tx->size;
        self->waiting_first += tx->size;
    }
    self->waiting_first = self->waiting_placed = self->waiting_end = 0;
    return 1;
}

PyObject *tx_publish(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    int moved = self->waiting_first == self->waiting_end;
    if (!moved && !self->recording)
        moved = move_waiting(self);
    if (self->placed > self->told) {
        vp_txlog_publish(self->log, self->placed);
        self->told = self->placed;
    }
    return moved < 0 ? NULL : PyBool_FromLong(moved);
}

PyObject *tx_collected(Recorder *self, PyObject *value)
{
    long long ts;
    vp_position position = {0};
    PyObject *words[2];
    if (!PyTuple_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "a position is a tuple (ts, hi, lo)");
        return NULL;
    }
    if (!PyArg_ParseTuple(value, "LO!O!", &ts, &PyLong_Type, &words[0], &PyLong_Type, &words[1]))
        return NULL;
    position.ts = ts;
    position.hi = PyLong_AsUnsignedLongLong(words[0]);
    position.lo = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongLong(words[1]);
    if (PyErr_Occurred() || tx_check_collected(self, position))
        return NULL;
    if (self->waiting_first < self->waiting_placed) {
        const vp_tx *first = (vp_tx *)(self->waiting + self->waiting_first);
        if (compare(first, position) < 0)
            position = position_of(first);
    }
    vp_txlog_collected(self->log, position);
    Py_RETURN_NONE;
}

PyObject *tx_has_room(Recorder *self, PyObject *ignored)
{
    (void)ignored;
    uint64_t taken = self->at - vp_txlog_head(self->log);
    return PyBool_FromLong(self->waiting_first == self->waiting_end && self->capacity - taken >= self->capacity / 4);
}
