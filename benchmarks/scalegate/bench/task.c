#include "task.h"

#include <stdlib.h>

/* Of one turn. A reader's is what the runtime takes at most, a source's about as long. */
enum { MOST_JUMBOS = 4, MOST_TUPLES = 4096, MOST_RUNS = 4096 };

bool task_begin(b_task *task)
{
    if (!task->is_reader)
        return (task->jumbo = malloc(task->load.jumbo * sizeof *task->jumbo));
    task->reader = task->subject->reader_new(task->gate, task->index);
    task->into = vp_positions_new();
    task->runs = malloc(MOST_RUNS * sizeof *task->runs);
    return task->reader && task->into && task->runs;
}

void task_end(b_task *task)
{
    free(task->jumbo);
    free(task->runs);
    if (task->into)
        vp_positions_free(task->into);
    if (task->reader)
        task->subject->reader_free(task->reader);
}

/* One jumbo tuple, or the end; false if there is no room for it. */
static bool add(b_task *task)
{
    if (task->count == 0)
        task->count = load_next(&task->load, task->jumbo);
    if (task->count == 0)
        return (task->is_done = task->subject->close(task->gate, task->index));
    if (!task->subject->add(task->gate, task->index, task->jumbo, task->count))
        return false;
    task->count = 0;
    return true;
}

static bool source_turn(b_task *task)
{
    uint32_t added = 0;
    while (added < MOST_JUMBOS && !task->is_done && add(task))
        added++;
    return added > 0;
}

static void note_checksum(b_task *task, int64_t runs)
{
    const vp_position *next = task->into->data;
    for (int64_t i = 0; i < runs; i++)
        for (uint32_t left = task->runs[i].count; left > 0; left--)
            task->result->checksum = load_checksum(task->result->checksum, *next++, task->runs[i].source);
}

static bool reader_turn(b_task *task)
{
    task->into->length = 0;
    int64_t made = task->subject->take(task->reader, task->into, MOST_TUPLES, task->runs, MOST_RUNS);
    if (made < 0)
        abort();
    if (task->is_checked)
        note_checksum(task, made);
    task->result->tuples += task->into->length;
    task->result->runs += (uint64_t)made;
    task->is_done = made == 0 && task->subject->drained(task->reader);
    return made > 0;
}

bool task_turn(b_task *task)
{
    return task->is_reader ? reader_turn(task) : source_turn(task);
}
