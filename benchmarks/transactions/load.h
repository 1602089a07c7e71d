/* The transactions that are measured: the four applications of "TStream: Towards Consistent Stream Processing on
 * Multicores" (Zhang et al., ICDE 2020), written into the logs of several tasks.
 */
#ifndef BENCH_TX_LOAD_H
#define BENCH_TX_LOAD_H

#include "txgroup.h"
#include "viper/arena.h"
#include "viper/txchoice.h"

enum { MOST_LOGS = 64, MOST_TABLES = 3, MOST_THREADS = 8, TOLL_SEGMENTS = 100, TOLL_VEHICLES = 1000 };

typedef enum {
    GREP_AND_SUM, /* half of them read a column of 10 rows, half write it; rows of 128 bytes */
    LEDGER,       /* half of them transfer between two accounts and two assets, if there is enough; half deposit */
    LEDGER_APART, /* the same, with a comparison and a requirement as instructions of their own */
    BIDDING,      /* three quarters bid for an item; the others alter the prices of 20, or top up their quantities */
    TOLL,         /* three for each report: a segment's average speed, its set of vehicles, and then a read of both */
    LOADS
} load_kind;

extern const char *const load_names[LOADS];

typedef struct {
    load_kind kind;
    uint32_t transactions, rows, logs, accesses, partitions; /* partitions: rows of one in n; 0: of any */
    uint32_t length;       /* how many partitions those name that do not stay in one; 0: any */
    uint32_t gather;       /* transactions that tasks have come past before each evaluation; 0: all */
    double skew, crossing; /* exponent of Zipf's law; share of transactions that do not stay in one partition */
    double reads;          /* share of transactions that read, of grep and sum */
    uint64_t seed;
} load_shape;

typedef struct {
    load_shape shape;
    vp_arena *arena;
    char *image; /* of all of it, as it is at first */
    uint64_t capacity, copied; /* of the arena; and what is as at first in each round */
    vp_txgroup *group;
    uint64_t region_at; /* for schemes or a choice of MOST_THREADS threads */
    uint64_t group_at, table_at[MOST_TABLES], log_at[MOST_LOGS];
    vp_shared *tables[MOST_TABLES];
    vp_txlog *logs[MOST_LOGS];
    uint64_t log_bytes;
    uint32_t tables_count;
    uint32_t *ranks; /* by place, the row of Zipf's law */
    double *shares;  /* cumulative */
} load;

/* What else is asked for is made to go with the kind: logs for each of its components, and its own number of rows and
 * of accesses where these are 0. NULL without memory. */
load *load_new(load_shape shape);
void load_free(load *of);

/* Tables and logs as new, with all transactions in the logs and nothing evaluated. Always the same ones. */
void load_reset(load *of);

/* All tasks have come past so many transactions. */
void load_collect(load *of, uint32_t transactions);

/* A number for all that is in the tables, and for all results. */
uint64_t load_checksum(load *of);

#endif
