/* The non-blocking reorder buffer of "Scaling Ordered Stream Processing on Shared-Memory Multicores" (figure 4).
 *
 * Workers send outputs in any order, each under the serial number of its input. Whoever wins the flag sends downstream
 * all that is ready, in order; nobody waits for it. An output may stand for several inputs that follow one another. It
 * lies in the slot of the first of them.
 */
#ifndef REORDERING_BUFFER_H
#define REORDERING_BUFFER_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "downstream.h"

enum { RO_LINE = 128 }; /* processors fetch cache lines in pairs */

typedef struct {
    _Atomic uint64_t count; /* inputs that the output stands for; 0: the slot is empty */
    _Atomic uint64_t output;
} ro_slot;

typedef struct {
    uint64_t slot_count; /* a power of two */
    ro_downstream downstream;
    alignas(RO_LINE) _Atomic uint64_t next; /* the serial number of the input whose output is due */
    alignas(RO_LINE) _Atomic uint64_t flag; /* 1: a worker sends downstream */
    alignas(RO_LINE) ro_slot slots[];
} ro_buffer;

uint64_t ro_buffer_size(uint64_t slot_count);

/* Makes an empty buffer of zeroed memory, which is aligned to RO_LINE. */
ro_buffer *ro_buffer_format(void *memory, uint64_t slot_count, ro_downstream downstream);

/* Takes the output of `count` inputs, at least 1, from the serial number `first` on. False if the slots do not reach
 * that far yet: the worker then sends it again. Either way it sends downstream what is ready, unless another does. */
bool ro_buffer_send(ro_buffer *buffer, uint64_t first, uint64_t count, uint64_t output);

#endif
