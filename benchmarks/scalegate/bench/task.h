/* Sources and readers as tasks that are given turns, as the runtime's workers do it. */
#ifndef SCALEGATE_TASK_H
#define SCALEGATE_TASK_H

#include "load.h"
#include "subject.h"

/* What a reader found; in memory that outlives its process. */
typedef struct {
    uint64_t tuples, runs;
    uint64_t checksum; /* 0 unless it is wanted */
} task_result;

typedef struct {
    const b_subject *subject;
    void *gate;
    bool is_reader, is_done, is_checked;
    uint32_t index; /* of the source, of the reader */
    /* A source's. */
    b_load load;
    vp_position *jumbo;
    uint32_t count; /* of the jumbo tuple that is to be added; 0: none */
    /* A reader's. */
    void *reader;
    vp_positions *into;
    vp_run *runs;
    task_result *result;
} b_task;

/* Gets the memory it needs, in the thread or process that it will run in. False if there is none. */
bool task_begin(b_task *task);
void task_end(b_task *task);

/* Does some work; false if there was none to do. */
bool task_turn(b_task *task);

#endif
