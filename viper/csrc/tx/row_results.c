/* RowResults: what came of the transactions of a batch's rows. It has what the log had, which goes. */
#include "record.h"

/* What came of one transaction. */
typedef struct {
    uint32_t part;
    uint32_t status;
    uint32_t condition; /* of VP_TX_FAILED_CONDITION */
    uint32_t table, row; /* of VP_TX_MISSING */
} Outcome;

/* Those of one block. */
typedef struct {
    uint64_t serial;
    uint32_t registers, count;
    char *kinds;
    int64_t *words; /* all registers of one transaction behind those of the one before it */
    BlockReason *reasons;
    uint32_t reason_count;
} Part;

typedef struct {
    PyObject_HEAD
    PyObject *tables;
    PyObject *aborted; /* bytes */
    PyObject *rows;    /* bytes of uint32 */
    Part *parts;
    uint32_t part_count;
    Outcome *outcomes;
} RowResults;

static void part_clear(Part *part)
{
    for (uint32_t i = 0; i < part->reason_count; i++)
        Py_DECREF(part->reasons[i].text);
    PyMem_Free(part->reasons);
    PyMem_Free(part->kinds);
    PyMem_Free(part->words);
}

static void row_results_dealloc(RowResults *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    for (uint32_t i = 0; i < self->part_count; i++)
        part_clear(&self->parts[i]);
    PyMem_Free(self->parts);
    PyMem_Free(self->outcomes);
    Py_XDECREF(self->tables);
    Py_XDECREF(self->aborted);
    Py_XDECREF(self->rows);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* -- taken from the log */

static uint32_t chosen(const Block *block, uint32_t first, uint32_t rows)
{
    uint32_t count = block->mask == NULL ? rows : 0;
    for (uint32_t i = 0; block->mask != NULL && i < rows; i++)
        count += block->mask[first + i];
    return count;
}

static int part_open(Part *part, const Block *block, uint32_t first, uint32_t rows)
{
    size_t count = chosen(block, first, rows);
    part->serial = block->serial;
    part->registers = block->registers;
    part->kinds = PyMem_Malloc(block->registers + 1);
    part->words = PyMem_Malloc(count * block->registers * sizeof *part->words + 1);
    part->reasons = PyMem_Malloc(block->reason_count * sizeof *part->reasons + 1);
    if (part->kinds == NULL || part->words == NULL || part->reasons == NULL)
        return -1;
    if (block->registers)
        memcpy(part->kinds, block->kinds, block->registers);
    for (; part->reason_count < block->reason_count; part->reason_count++) {
        part->reasons[part->reason_count] = block->reasons[part->reason_count];
        Py_INCREF(part->reasons[part->reason_count].text);
    }
    return (int)count;
}

/* Room for what came of so many rows of a batch; NULL with an error set. */
static RowResults *row_results_open(const Recorder *recorder, const Batch *batch, uint32_t rows)
{
    Py_ssize_t transactions = 0;
    RowResults *self = PyObject_New(RowResults, recorder->row_results_type);
    if (self == NULL)
        return NULL;
    memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
    self->tables = Py_NewRef(recorder->tables);
    self->parts = PyMem_Calloc(batch->block_count + 1, sizeof *self->parts);
    for (uint32_t i = 0; self->parts != NULL && i < batch->block_count; i++) {
        self->part_count = i + 1;
        int count = part_open(&self->parts[i], batch->blocks[i], batch->taken, rows);
        transactions = count < 0 || transactions < 0 ? -1 : transactions + count;
    }
    if (self->parts != NULL && transactions >= 0) {
        self->outcomes = PyMem_Malloc((size_t)transactions * sizeof *self->outcomes + 1);
        self->aborted = PyBytes_FromStringAndSize(NULL, transactions);
        self->rows = PyBytes_FromStringAndSize(NULL, transactions * (Py_ssize_t)sizeof(uint32_t));
    }
    if (self->outcomes != NULL && self->aborted != NULL && self->rows != NULL)
        return self;
    Py_DECREF((PyObject *)self);
    PyErr_NoMemory();
    return NULL;
}

static Outcome outcome_of(const vp_tx *tx, uint32_t part)
{
    Outcome outcome = {.part = part, .status = tx->status};
    if (tx->status == VP_TX_DONE || tx->at >= tx->program)
        return outcome;
    const vp_tx_instruction *at = &tx_program(tx)[tx->at];
    outcome.condition = tx_condition(at);
    outcome.table = at->table;
    outcome.row = at->row;
    return outcome;
}

static void take_one(RowResults *self, const vp_tx *tx, uint32_t number, uint32_t part_number, uint32_t row)
{
    Part *part = &self->parts[part_number];
    int64_t *words = part->words + (size_t)part->count++ * part->registers;
    int is_done = tx->status == VP_TX_DONE;
    ((char *)PyBytes_AS_STRING(self->aborted))[number] = !is_done;
    memcpy(PyBytes_AS_STRING(self->rows) + number * sizeof row, &row, sizeof row);
    self->outcomes[number] = outcome_of(tx, part_number);
    if (is_done && part->registers)
        memcpy(words, tx_words(tx), part->registers * sizeof *words);
    else if (part->registers)
        memset(words, 0, part->registers * sizeof *words);
}

static int refuse_rows(unsigned long rows, const char *why)
{
    PyErr_Format(PyExc_IndexError, "the results of %lu rows cannot be taken: %s", rows, why);
    return -1;
}

static int check_rows(const Recorder *self, unsigned long rows)
{
    if (self->batch_first == self->batch_count)
        return refuse_rows(rows, "there is no batch");
    const Batch *batch = &self->batches[self->batch_first];
    if (rows > batch->rows - batch->taken)
        return refuse_rows(rows, "the batch has no more");
    return (int64_t)rows > tx_evaluated_inputs(self) ? refuse_rows(rows, "not all their transactions are evaluated") : 0;
}

/* A log that does not have what the blocks say was written over. */
static int take_all(Recorder *self, RowResults *results, const Batch *batch, uint32_t rows)
{
    uint32_t number = 0;
    for (uint32_t row = 0; row < rows; row++, self->oldest++)
        for (uint32_t i = 0; i < batch->block_count; i++) {
            const Block *block = batch->blocks[i];
            if (block->mask != NULL && !block->mask[batch->taken + row])
                continue;
            const vp_tx *tx = tx_next_taken(self, &self->called);
            if (tx == NULL || tx->registers != block->registers) {
                PyErr_SetString(PyExc_SystemError, "the log of transactions does not have what was written there");
                return -1;
            }
            take_one(results, tx, number++, i, row);
            self->taken++;
        }
    return 0;
}

PyObject *tx_take_rows(Recorder *self, PyObject *count)
{
    unsigned long rows = PyLong_AsUnsignedLong(count);
    if (PyErr_Occurred() || check_rows(self, rows))
        return NULL;
    Batch *batch = &self->batches[self->batch_first];
    RowResults *results = row_results_open(self, batch, (uint32_t)rows);
    if (results == NULL || take_all(self, results, batch, (uint32_t)rows)) {
        Py_XDECREF((PyObject *)results);
        return NULL;
    }
    batch->taken += (uint32_t)rows;
    if (batch->taken == batch->rows)
        tx_batch_pop(self);
    return (PyObject *)results;
}

/* -- asked for */

static PyObject *viewed(PyObject *bytes, const char *format)
{
    PyObject *view = bytes == NULL ? NULL : PyMemoryView_FromObject(bytes);
    PyObject *cast = view == NULL ? NULL : PyObject_CallMethod(view, "cast", "s", format);
    Py_XDECREF(view);
    return cast;
}

static PyObject *column(const Part *part, uint32_t number)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, part->count * (Py_ssize_t)sizeof(int64_t));
    char *to = bytes == NULL ? NULL : PyBytes_AS_STRING(bytes);
    for (uint32_t i = 0; to != NULL && i < part->count; i++)
        memcpy(to + i * sizeof(int64_t), part->words + (size_t)i * part->registers + number, sizeof(int64_t));
    PyObject *view = viewed(bytes, part->kinds[number] == TX_FLOAT ? "d" : "q");
    Py_XDECREF(bytes);
    return view;
}

/* The block that a handle is of, or the one in its place: batches say the same one after the other, and who keeps a handle has
 * that of the latest. NULL if that has nothing of the kind. */
static const Part *part_of(const RowResults *self, const Handle *handle)
{
    const Part *part = handle->block < self->part_count ? &self->parts[handle->block] : NULL;
    for (uint32_t i = 0; i < self->part_count; i++)
        if (self->parts[i].serial == handle->serial)
            part = &self->parts[i];
    int fits = part != NULL && handle->number < part->registers && part->kinds[handle->number] == handle->kind;
    return fits ? part : NULL;
}

static PyObject *item(RowResults *self, PyObject *key)
{
    if (!tx_is_handle(key)) {
        PyErr_Format(PyExc_TypeError, "the values of a batch's results are had by a handle; found %.100R", key);
        return NULL;
    }
    const Part *part = part_of(self, (Handle *)key);
    if (part != NULL)
        return column(part, ((Handle *)key)->number);
    PyErr_SetString(PyExc_LookupError, "the handle is of another batch, whose blocks say something else");
    return NULL;
}

static PyObject *aborted(RowResults *self, void *ignored)
{
    (void)ignored;
    return Py_NewRef(self->aborted);
}

static PyObject *rows(RowResults *self, void *ignored)
{
    (void)ignored;
    return viewed(self->rows, "I");
}

static Py_ssize_t length(RowResults *self)
{
    return PyBytes_GET_SIZE(self->aborted);
}

static PyObject *reason_of_condition(const Part *part, uint32_t condition)
{
    for (uint32_t i = 0; i < part->reason_count; i++)
        if (part->reasons[i].condition == condition)
            return Py_NewRef(part->reasons[i].text);
    return PyUnicode_FromFormat("condition %u", condition);
}

static PyObject *reason(RowResults *self, PyObject *index)
{
    Py_ssize_t at = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if (at == -1 && PyErr_Occurred())
        return NULL;
    if (at < 0 || at >= length(self)) {
        PyErr_Format(PyExc_IndexError, "there are %zd transactions, and none of index %zd", length(self), at);
        return NULL;
    }
    const Outcome *outcome = &self->outcomes[at];
    switch (outcome->status) {
    case VP_TX_DONE:
        Py_RETURN_NONE;
    case VP_TX_FAILED_CONDITION:
        return reason_of_condition(&self->parts[outcome->part], outcome->condition);
    case VP_TX_MISSING:
        return tx_reason_missing(self->tables, outcome->table, outcome->row);
    default:
        return PyUnicode_FromString("overflow");
    }
}

static PyMethodDef row_results_methods[] = {
    {"reason", (PyCFunction)reason, METH_O, "reason(index) -> str | None: why a transaction was aborted; None: it was not."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef row_results_getset[] = {
    {"aborted", (getter)aborted, NULL, "A byte for each transaction, in order of rows: 1 if it was aborted.", NULL},
    {"rows", (getter)rows, NULL, "The row of each transaction, from 0 on (uint32).", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot row_results_slots[] = {
    {Py_tp_doc, "What came of the transactions of a batch's rows; results[handle] has the values of its block's, int64 or\n"
                "float64, 0 where one was aborted."},
    {Py_tp_dealloc, row_results_dealloc},
    {Py_tp_methods, row_results_methods},
    {Py_tp_getset, row_results_getset},
    {Py_mp_length, length},
    {Py_mp_subscript, item},
    {0, NULL},
};

PyType_Spec tx_row_results_spec = {"viper._rows.RowResults", sizeof(RowResults), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, row_results_slots};
