/* The plain way to restore an order: a lock, and a heap of the outputs that are early.
 *
 * It is the paper's lock-based scheme (figure 2). Workers wait for each other while one of them sends downstream.
 */
#ifndef REORDERING_HEAP_H
#define REORDERING_HEAP_H

#include <pthread.h>
#include <stdbool.h>

#include "downstream.h"

typedef struct {
    uint64_t first, count, output;
} ro_early;

typedef struct {
    pthread_mutex_t lock;
    ro_downstream downstream;
    uint64_t room; /* inputs that an output may be ahead of the one that is due */
    uint64_t next; /* the serial number of the input whose output is due */
    uint64_t length;
    ro_early outputs[]; /* the least first */
} ro_heap;

uint64_t ro_heap_size(uint64_t room);

/* Makes an empty heap of zeroed memory. */
ro_heap *ro_heap_format(void *memory, uint64_t room, ro_downstream downstream);

/* As ro_buffer_send, but waits for whoever sends downstream. */
bool ro_heap_send(ro_heap *heap, uint64_t first, uint64_t count, uint64_t output);

#endif
