/* What is measured: a design of ScaleGate behind one interface. */
#ifndef SCALEGATE_SUBJECT_H
#define SCALEGATE_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/merge.h"

typedef struct {
    uint32_t sources, readers, slots, tuples; /* slots and tuples: of each source */
} subject_size;

typedef struct {
    const char *name;
    uint64_t (*size)(subject_size size);
    /* `memory` is zeroed and page-aligned. Returns the gate, at the same place in every process. */
    void *(*format)(void *memory, subject_size size);
    /* Both false if there is no room. `positions` were checked by nobody. */
    bool (*add)(void *gate, uint32_t source, const vp_position *positions, uint32_t count);
    bool (*close)(void *gate, uint32_t source);
    void *(*reader_new)(void *gate, uint32_t index);
    /* As vp_merge_take, and gives back what was delivered. */
    int64_t (*take)(void *reader, vp_positions *into, uint64_t limit, vp_run *runs, uint32_t max_runs);
    bool (*drained)(void *reader);
    void (*reader_free)(void *reader);
} b_subject;

extern const b_subject subject_list, subject_rings;

#endif
