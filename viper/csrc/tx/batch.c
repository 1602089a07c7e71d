/* The blocks of a batch, written out for each of its rows: a copy of one transaction, in which numbers of rows and operands are
 * filled in. */
#include "record.h"

#include "viper/position.h"

static int write_one(Recorder *self, Block *block, uint32_t input, uint32_t ordinal, vp_position position)
{
    char *to = tx_log_room(self, block->size);
    if (to == NULL)
        return -1;
    memcpy(to, block->entry, block->size);
    vp_tx *tx = (vp_tx *)to;
    tx->ordinal = (uint16_t)ordinal;
    tx->input = input;
    tx->ts = position.ts;
    tx->hi = position.hi;
    tx->lo = position.lo;
    uint32_t number = block->next++;
    for (const Patch *patch = block->patches, *end = patch + block->patch_count; patch < end; patch++) {
        if (patch->is_row)
            memcpy(to + patch->at, (const uint32_t *)patch->values + number, sizeof(uint32_t));
        else
            memcpy(to + patch->at, (const int64_t *)patch->values + number, sizeof(int64_t));
    }
    self->recorded++;
    return 0;
}

static int write_row(Recorder *self, Batch *batch, uint32_t row, vp_position position)
{
    uint32_t ordinal = 0;
    for (uint32_t i = 0; i < batch->block_count; i++) {
        Block *block = batch->blocks[i];
        if ((block->mask == NULL || block->mask[row]) &&
            write_one(self, block, batch->first + row, ordinal++, position))
            return -1;
    }
    return 0;
}

int tx_batch_place(Recorder *self, const vp_positions *positions, uint64_t first)
{
    Batch *batch = tx_batch(self);
    Mark before;
    tx_log_mark(self, &before);
    for (uint32_t row = 0; batch->block_count && row < batch->rows; row++)
        if (write_row(self, batch, row, vp_positions_at(positions, first + row))) {
            tx_log_back(self, &before);
            for (uint32_t i = 0; i < batch->block_count; i++)
                batch->blocks[i]->next = 0;
            return -1;
        }
    self->placed = self->at;
    self->waiting_placed = self->waiting_end;
    for (uint32_t i = 0; i < batch->block_count; i++) {
        tx_block_shrink(batch->blocks[i]);
        batch->blocks[i]->next = 0;
    }
    if (batch->rows == 0) { /* nobody asks for it */
        tx_batch_drop(self);
        PyMem_Free(batch->blocks);
        self->batch_count--;
    }
    return 0;
}
