/* How parallel a load could be evaluated at most, whatever it costs: the longest chains of what conflicts. */
#ifndef BENCH_TX_PATHS_H
#define BENCH_TX_PATHS_H

#include "load.h"

/* Sums over all batches. Divided by the longest path, the number of all is how many would be under way at once, on
 * average, if all took equally long and there were processors for all of them. */
typedef struct {
    uint64_t batches, transactions, operations;
    uint64_t transactions_path; /* of transactions, one behind the other as they name a row in common, and one writes it */
    uint64_t operations_path;   /* of operations on rows, likewise, and where one needs what another one has read */
} load_paths;

/* Of batches of so many transactions, in the order of all. False without memory. */
bool load_measure_paths(const load *of, uint32_t batch, load_paths *into);

#endif
