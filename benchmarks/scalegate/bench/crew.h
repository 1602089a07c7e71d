/* Workers, threads or processes, that share out the tasks of one gate and run them to the end. */
#ifndef SCALEGATE_CREW_H
#define SCALEGATE_CREW_H

#include "task.h"

typedef struct {
    const b_subject *subject;
    load_kind kind;
    bool processes, is_checked;
    uint32_t sources, readers, workers, jumbo, room; /* room: tuples of each source that a gate holds */
    uint64_t tuples;                                 /* of each source */
} crew_plan;

enum { CREW_READERS = 8 };

typedef struct {
    double cpu_ns;  /* of all workers, without passes over their tasks that found nothing to do */
    double wall_ns; /* from the first worker's start to the last one's end */
    task_result readers[CREW_READERS];
} crew_result;

/* False if the system has not the memory, the threads or the processes. */
bool crew_run(crew_plan plan, crew_result *result);

#endif
