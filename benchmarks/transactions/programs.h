/* What the transactions of each application want, as programs of logs. */
#ifndef BENCH_TX_PROGRAMS_H
#define BENCH_TX_PROGRAMS_H

#include "load.h"

enum { MOST_STEPS = 64, MOST_ACCESSES = 60 };

typedef struct {
    vp_tx_instruction steps[MOST_STEPS];
    uint16_t count, registers;
} program;

/* How many transactions each event makes, of as many components in order. */
uint32_t transactions_of_event(load_kind kind);

/* The bytes of the largest transaction, without its header. */
uint64_t program_bytes_most(const load_shape *shape);

/* Writes the transaction with a number, drawn from a seed that goes on from one to the next. */
void write_program(const load *of, uint64_t *seed, uint32_t number, program *into);

#endif
