/* Random numbers, and rows that transactions name: by Zipf's law, of one partition or of several. */
#ifndef BENCH_TX_DRAW_H
#define BENCH_TX_DRAW_H

#include "load.h"

uint32_t random_below(uint64_t *seed, uint32_t bound);
double random_share(uint64_t *seed); /* from 0 to below 1 */

/* Which row of a partition comes how often; of->ranks and of->shares have room for the rows of one. */
void draw_prepare(load *of);
uint32_t draw_partition_rows(const load_shape *shape);

/* Rows of one transaction, each another one. */
void draw_rows(const load *of, uint64_t *seed, uint32_t *rows, uint32_t count);
/* Likewise rows of two tables in turn, equal ones only of different tables. */
void draw_pairs(const load *of, uint64_t *seed, uint32_t *first, uint32_t *second, uint32_t count);
/* One row, whatever partitions there are. */
uint32_t draw_row(const load *of, uint64_t *seed);

#endif
