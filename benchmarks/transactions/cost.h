/* Operations that are dearer than those of these loads: each burns some ns more, by work that no core can share. */
#ifndef BENCH_TX_COST_H
#define BENCH_TX_COST_H

#include <stdint.h>

/* Finds out how much work so many ns are; 0: none. Where other work disturbs that, operations are cheaper than told. */
void cost_set(uint32_t ns);

#endif
