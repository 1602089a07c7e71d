/* The end of all structures that restore an order: a function that gets the outputs, one call at a time, in order. */
#ifndef REORDERING_DOWNSTREAM_H
#define REORDERING_DOWNSTREAM_H

#include <stdint.h>

/* `count` inputs from the serial number `first` on have this output. */
typedef void ro_send(void *context, uint64_t first, uint64_t count, uint64_t output);

typedef struct {
    ro_send *send;
    void *context;
} ro_downstream;

#endif
