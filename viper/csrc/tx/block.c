/* Blocks of a batch: what all its rows want, or some of them, said once. */
#include "record.h"

#include <stddef.h>

void tx_block_shrink(Block *block)
{
    for (uint32_t i = 0; i < block->array_count; i++)
        PyMem_Free(block->arrays[i]);
    PyMem_Free(block->arrays);
    PyMem_Free(block->patches);
    PyMem_Free(block->entry);
    block->arrays = NULL;
    block->patches = NULL;
    block->entry = NULL;
    block->array_count = block->array_room = block->patch_count = block->patch_room = 0;
}

void tx_block_free(Block *block)
{
    if (block == NULL)
        return;
    tx_block_shrink(block);
    for (uint32_t i = 0; i < block->reason_count; i++)
        Py_DECREF(block->reasons[i].text);
    PyMem_Free(block->reasons);
    PyMem_Free(block->mask);
    PyMem_Free(block->kinds);
    PyMem_Free(block);
}

int tx_block_reason(Block *block, uint32_t condition, PyObject *text)
{
    if (block->reason_count == block->reason_room) {
        uint32_t room = block->reason_room ? 2 * block->reason_room : 4;
        BlockReason *reasons = PyMem_Realloc(block->reasons, room * sizeof *reasons);
        if (reasons == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        block->reasons = reasons;
        block->reason_room = room;
    }
    block->reasons[block->reason_count++] = (BlockReason){condition, Py_NewRef(text)};
    return 0;
}

/* -- batches */

void tx_batch_drop(Recorder *self)
{
    Batch *batch = tx_batch(self);
    for (uint32_t i = 0; i < batch->block_count; i++)
        tx_block_free(batch->blocks[i]);
    batch->block_count = 0;
}

static void batch_clear(Batch *batch)
{
    for (uint32_t i = 0; i < batch->block_count; i++)
        tx_block_free(batch->blocks[i]);
    PyMem_Free(batch->blocks);
    *batch = (Batch){0};
}

void tx_batches_clear(Recorder *self)
{
    for (uint32_t i = self->batch_first; i < self->batch_count; i++)
        batch_clear(&self->batches[i]);
    PyMem_Free(self->batches);
    self->batches = NULL;
    self->batch_first = self->batch_count = self->batch_room = 0;
}

void tx_batch_pop(Recorder *self)
{
    batch_clear(&self->batches[self->batch_first++]);
    if (self->batch_first == self->batch_count)
        self->batch_first = self->batch_count = 0;
}

/* -- which rows */

static int take_mask(Block *block, PyObject *where, uint32_t rows)
{
    Py_buffer view;
    if (PyObject_GetBuffer(where, &view, PyBUF_STRIDES))
        return -1;
    int fits = view.ndim == 1 && view.itemsize == 1 && view.shape[0] == (Py_ssize_t)rows;
    block->mask = fits ? PyMem_Malloc(rows + 1) : NULL;
    if (!fits)
        PyErr_Format(PyExc_ValueError, "`where` has a bool for each of the %u rows of the batch; found %zd items of %zd bytes", rows,
                     view.ndim == 1 ? view.shape[0] : (Py_ssize_t)-1, view.itemsize);
    else if (block->mask == NULL)
        PyErr_NoMemory();
    for (uint32_t i = 0; block->mask != NULL && i < rows; i++) {
        block->mask[i] = ((const char *)view.buf)[i * view.strides[0]] != 0;
        block->rows += block->mask[i];
    }
    PyBuffer_Release(&view);
    return block->mask == NULL ? -1 : 0;
}

static int take_list(Block *block, PyObject *where, uint32_t rows)
{
    if (PyList_GET_SIZE(where) != (Py_ssize_t)rows) {
        PyErr_Format(PyExc_ValueError, "`where` has a bool for each of the %u rows of the batch; found %zd", rows,
                     PyList_GET_SIZE(where));
        return -1;
    }
    block->mask = PyMem_Malloc(rows + 1);
    if (block->mask == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < rows; i++) {
        PyObject *one = i < PyList_GET_SIZE(where) ? PyList_GET_ITEM(where, i) : Py_None;
        if (!PyBool_Check(one)) {
            PyErr_Format(PyExc_TypeError, "`where` is a bool for each row; found %.100R", one);
            return -1;
        }
        block->mask[i] = one == Py_True;
        block->rows += block->mask[i];
    }
    return 0;
}

static int take_where(Block *block, PyObject *where, uint32_t rows)
{
    if (PyList_Check(where))
        return take_list(block, where, rows);
    if (where != Py_None)
        return take_mask(block, where, rows);
    block->rows = rows;
    return 0;
}

PyObject *tx_begin_rows(Recorder *self, PyObject *const *args, Py_ssize_t count)
{
    Transaction *transaction = self->transaction;
    if (count > 1) {
        PyErr_SetString(PyExc_TypeError, "begin_rows takes (where)");
        return NULL;
    }
    if (self->recording != TX_ROWS || transaction->state == TX_OPEN) {
        PyErr_SetString(PyExc_RuntimeError, self->recording != TX_ROWS ? "transactions of rows are said in process_rows"
                                                                       : "a block is opened within another one, which is not over");
        return NULL;
    }
    Block *block = PyMem_Calloc(1, sizeof *block);
    if (block == NULL)
        return PyErr_NoMemory();
    if (take_where(block, count ? args[0] : Py_None, tx_batch(self)->rows)) {
        tx_block_free(block);
        return NULL;
    }
    tx_block_free(transaction->block);
    transaction->block = block;
    block->serial = ++transaction->serial;
    block->number = tx_batch(self)->block_count;
    transaction->state = TX_BEGUN;
    transaction->count = transaction->registers = transaction->conditions = 0;
    return Py_NewRef((PyObject *)transaction);
}

/* -- the end of a block */

/* A transaction as the log has it, with nothing of any row's. */
static int make_entry(const Transaction *self, Block *block)
{
    size_t words = (self->registers + 1u) & ~(size_t)1, program = sizeof(vp_tx) + words * sizeof(int64_t);
    block->size = program + self->count * sizeof *self->program;
    block->registers = self->registers;
    block->entry = PyMem_Calloc(1, block->size);
    block->kinds = PyMem_Malloc(self->registers + 1);
    if (block->entry == NULL || block->kinds == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *(vp_tx *)block->entry = (vp_tx){.size = (uint32_t)block->size,
                                     .kind = VP_TX_PROGRAM,
                                     .registers = (uint16_t)self->registers,
                                     .program = (uint16_t)self->count};
    if (self->count)
        memcpy(block->entry + program, self->program, self->count * sizeof *self->program);
    if (self->registers)
        memcpy(block->kinds, self->kinds, self->registers);
    for (uint32_t i = 0; i < block->patch_count; i++) {
        Patch *patch = &block->patches[i];
        size_t within = patch->is_row ? offsetof(vp_tx_instruction, row) : offsetof(vp_tx_instruction, operand);
        patch->at = (uint32_t)(program + patch->at * sizeof *self->program + within);
    }
    return 0;
}

static int append_block(Batch *batch, Block *block)
{
    if (batch->block_count == UINT16_MAX) {
        PyErr_Format(PyExc_ValueError, "a batch has at most %d blocks", UINT16_MAX);
        return -1;
    }
    if (batch->block_count == batch->block_room) {
        uint32_t room = batch->block_room ? 2 * batch->block_room : 4;
        Block **blocks = PyMem_Realloc(batch->blocks, room * sizeof *blocks);
        if (blocks == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        batch->blocks = blocks;
        batch->block_room = room;
    }
    batch->blocks[batch->block_count++] = block;
    return 0;
}

int tx_block_end(Transaction *self, Recorder *recorder)
{
    Block *block = self->block;
    if (recorder->recording != TX_ROWS) {
        PyErr_SetString(PyExc_RuntimeError, "the batch of this block is over");
        return -1;
    }
    size_t size = sizeof(vp_tx) + ((self->registers + 1u) & ~1u) * sizeof(int64_t) + self->count * sizeof *self->program;
    if (tx_check_size(recorder, size, self->count, self->registers) || make_entry(self, block) ||
        append_block(tx_batch(recorder), block))
        return -1;
    self->block = NULL; /* it is the batch's */
    return 0;
}
