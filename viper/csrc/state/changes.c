/* Rows that change. For a run without checkpoints, and for state without a time to live, nothing of this is called. */
#include "state.h"

/* As vp_save: images wait until the walk comes to their group. */
typedef struct {
    KeyedTable *table;
    uint64_t group;
} Saving;

static int save_image(void *context, vp_row *row, uint64_t number)
{
    Saving *of = context;
    return row_export(&of->table->pending[of->group].images, of->table, of->group, row, number);
}

/* Where the row is pending, saves its image; -1 with an error set. */
static int save_pending(KeyedTable *table, uint64_t group, vp_row *row)
{
    Saving of = {table, group};
    vp_snapshot *snapshot = &table->pending[group].rows;
    if (!vp_snapshot_is_pending(snapshot) ||
        vp_snapshot_save(snapshot, table->writer, table_changes(table, group), row, save_image, &of) == 0)
        return 0;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    return -1;
}

int table_note_change(KeyedTable *table, uint64_t group, vp_row *row)
{
    vp_changes *changes = table_changes(table, group);
    if (table->pending != NULL && save_pending(table, group, row))
        return -1;
    if (changes != NULL && vp_changes_mark(table->writer, changes, table->heaps[group], vp_number_of(row))) {
        table_is_full(table);
        return -1;
    }
    return table->now == NULL ? 0 : table_note_time(table, row);
}

int table_before_moving(KeyedTable *table, uint64_t group)
{
    Saving of = {table, group};
    vp_snapshot *snapshot = table->pending == NULL ? NULL : &table->pending[group].rows;
    if (snapshot == NULL || !vp_snapshot_is_pending(snapshot) || !vp_keyed_would_move(table->tables[group]))
        return 0;
    return vp_snapshot_walk(snapshot, table->writer, table->tables[group], table_changes(table, group), save_image, &of);
}

int table_have_moved(KeyedTable *table, uint64_t group)
{
    vp_changes *changes = table_changes(table, group);
    if (changes == NULL || vp_changes_renumber(table->writer, changes) == 0)
        return 0;
    table_is_full(table);
    return -1;
}
