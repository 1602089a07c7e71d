#include "load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const load_names[LOADS] = {"grep and sum", "ledger", "ledger, apart"};

enum { GREP_COLUMNS = 14, LEDGER_COLUMNS = 11, MOST_STEPS = 64, BALANCE = 1000000 };

static uint64_t random_word(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t mixed = (*seed ^ *seed >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 29;
}

static uint32_t random_below(uint64_t *seed, uint32_t bound)
{
    return (uint32_t)((random_word(seed) >> 32) * bound >> 32);
}

static double random_share(uint64_t *seed)
{
    return (double)(random_word(seed) >> 11) * 0x1p-53;
}

/* -- rows by Zipf's law, at places that have nothing to do with their ranks */

static void make_ranks(load *of)
{
    uint32_t rows = of->shape.rows;
    uint64_t seed = 99;
    double sum = 0;
    for (uint32_t i = 0; i < rows; i++) {
        of->ranks[i] = i;
        sum += pow(i + 1, -of->shape.skew);
        of->shares[i] = sum;
    }
    for (uint32_t i = rows - 1; i > 0; i--) {
        uint32_t other = random_below(&seed, i + 1), row = of->ranks[i];
        of->ranks[i] = of->ranks[other];
        of->ranks[other] = row;
    }
}

static uint32_t random_row(const load *of, uint64_t *seed)
{
    double share = random_share(seed) * of->shares[of->shape.rows - 1];
    uint32_t low = 0, high = of->shape.rows - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (of->shares[middle] < share)
            low = middle + 1;
        else
            high = middle;
    }
    return of->ranks[low];
}

/* Rows of one transaction, each another one; of one partition, unless there is none or it crosses. */
static void random_rows(const load *of, uint64_t *seed, uint32_t *rows, uint32_t count)
{
    uint32_t partitions = of->shape.partitions ? of->shape.partitions : 1, home = random_below(seed, partitions);
    bool crosses = !of->shape.partitions || random_share(seed) < of->shape.crossing;
    for (uint32_t i = 0; i < count; i++) {
        bool is_new = true;
        do {
            rows[i] = random_row(of, seed);
            is_new = crosses || rows[i] % partitions == home;
            for (uint32_t k = 0; k < i; k++)
                is_new &= rows[k] != rows[i];
        } while (!is_new);
    }
}

/* -- programs */

typedef struct {
    vp_tx_instruction steps[MOST_STEPS];
    uint16_t count, registers;
} program;

static void step(program *of, uint8_t code, uint8_t flags, uint8_t table, uint32_t row, int64_t operand)
{
    of->steps[of->count++] = (vp_tx_instruction){code, flags, table, 0, row, operand};
    of->registers += code == VP_TX_READ || code >= VP_TX_PLUS;
}

static void grep_and_sum(const load *of, uint64_t *seed, program *into)
{
    uint32_t rows[MOST_STEPS];
    bool is_read = random_below(seed, 2);
    random_rows(of, seed, rows, of->shape.accesses);
    for (uint32_t i = 0; i < of->shape.accesses; i++)
        step(into, is_read ? VP_TX_READ : VP_TX_SET, 0, 0, rows[i], random_below(seed, 1000));
}

/* Register `of` is above an amount, or the transaction is aborted. */
static void require_above(program *into, bool apart, uint32_t of, int64_t amount)
{
    if (!apart) {
        step(into, VP_TX_REQUIRE_BELOW, VP_TX_LEFT_IMMEDIATE, 0, of, amount);
        return;
    }
    step(into, VP_TX_BELOW, VP_TX_LEFT_IMMEDIATE, 0, of, amount);
    step(into, VP_TX_REQUIRE, 0, 0, into->registers - 1u, 0);
}

static void ledger(const load *of, uint64_t *seed, program *into)
{
    uint32_t accounts[2], assets[2];
    bool apart = of->shape.kind == LEDGER_APART, is_transfer = random_below(seed, 2);
    int64_t amount = random_below(seed, 10000), goods = random_below(seed, 1000);
    random_rows(of, seed, accounts, is_transfer ? 2 : 1);
    random_rows(of, seed, assets, is_transfer ? 2 : 1);
    if (is_transfer) {
        step(into, VP_TX_READ, 0, 0, accounts[0], 0);
        step(into, VP_TX_READ, 0, 1, assets[0], 0);
        require_above(into, apart, 0, 0);
        require_above(into, apart, 0, amount);
        require_above(into, apart, 1, goods);
        step(into, VP_TX_SUBTRACT, 0, 0, accounts[0], amount);
        step(into, VP_TX_SUBTRACT, 0, 1, assets[0], goods);
    }
    step(into, VP_TX_ADD, 0, 0, accounts[is_transfer], amount);
    step(into, VP_TX_ADD, 0, 1, assets[is_transfer], goods);
}

/* -- logs */

static void write_program(load *of, uint64_t *ends, uint32_t log, int64_t ts, const program *from)
{
    uint64_t bytes = sizeof(vp_tx) + (from->registers + 1u) / 2 * 16 + from->count * sizeof *from->steps;
    vp_tx *tx = vp_txlog_room(of->logs[log], &ends[log], bytes);
    if (!tx)
        abort(); /* the logs were made for all */
    *tx = (vp_tx){.size = (uint32_t)bytes, .kind = VP_TX_PROGRAM, .registers = from->registers, .program = from->count,
                  .ts = ts};
    memset(vp_tx_registers(tx), 0, from->registers * sizeof(int64_t));
    memcpy(vp_tx_program(tx), from->steps, from->count * sizeof *from->steps);
    ends[log] += bytes;
}

static void write_logs(load *of)
{
    uint64_t seed = of->shape.seed, ends[MOST_LOGS] = {0};
    for (uint32_t i = 0; i < of->shape.transactions; i++) {
        program made = {.count = 0};
        (of->shape.kind == GREP_AND_SUM ? grep_and_sum : ledger)(of, &seed, &made);
        write_program(of, ends, random_below(&seed, of->shape.logs), i, &made);
    }
    for (uint32_t log = 0; log < of->shape.logs; log++)
        vp_txlog_publish(of->logs[log], ends[log]);
}

void load_collect(load *of, uint32_t transactions)
{
    vp_position position = transactions < of->shape.transactions ? (vp_position){transactions, 0, 0, 0} : VP_END;
    for (uint32_t log = 0; log < of->shape.logs; log++)
        vp_txlog_collected(of->logs[log], position);
}

/* -- memory */

static uint32_t columns_of(load_kind kind)
{
    return kind == GREP_AND_SUM ? GREP_COLUMNS : LEDGER_COLUMNS;
}

static uint64_t power_above(uint64_t bytes)
{
    uint64_t power = 4096;
    while (power < bytes)
        power *= 2;
    return power;
}

static void make_table(load *of, uint32_t number)
{
    int64_t words[VP_SHARED_COLUMNS] = {BALANCE};
    uint32_t columns = columns_of(of->shape.kind), rows = of->shape.rows;
    vp_shared *table = vp_shared_format(of->arena, of->table_at[number], rows, columns, 0, NULL);
    for (uint64_t key = 0; key < rows; key++)
        vp_shared_put(table, (uint64_t)vp_shared_enter(table, key * UINT64_C(0x9e3779b97f4a7c15), &key, 8), words);
    of->tables[number] = table;
}

static void make_all(load *of)
{
    of->group = vp_txgroup_format(of->arena, of->group_at, of->tables_count, of->shape.logs);
    for (uint32_t i = 0; i < of->tables_count; i++) {
        make_table(of, i);
        vp_txgroup_set_table(of->group, i, of->table_at[i]);
    }
    for (uint32_t i = 0; i < of->shape.logs; i++) {
        of->logs[i] = vp_txlog_format(of->arena, of->log_at[i], of->log_bytes, i, 0);
        vp_txgroup_set_log(of->group, i, of->log_at[i]);
    }
    write_logs(of);
    memcpy(of->image, of->arena, of->copied);
}

/* Behind the copy, which is larger than caches, rows are where they are while a group is evaluated again and again. */
void load_reset(load *of)
{
    static volatile int64_t sum;
    memcpy(of->arena, of->image, of->copied);
    for (uint32_t number = 0; number < of->tables_count; number++)
        for (uint64_t row = 0; row < of->shape.rows; row++)
            sum += vp_shared_get(of->tables[number], row, 0);
}

load *load_new(load_shape shape)
{
    load *of = calloc(1, sizeof *of);
    if (!of)
        return NULL;
    uint64_t most = sizeof(vp_tx) + (shape.kind == GREP_AND_SUM ? 24u * shape.accesses : 16u * 14 + 8 * 6);
    of->shape = shape;
    of->tables_count = shape.kind == GREP_AND_SUM ? 1 : 2;
    of->log_bytes = power_above(most * shape.transactions / shape.logs * 5 / 4 + 4096);
    uint64_t table = vp_shared_size(shape.rows, columns_of(shape.kind), 0);
    uint64_t group = vp_txgroup_size(of->tables_count, shape.logs), log = vp_txlog_size(of->log_bytes);
    of->copied = of->tables_count * table + group + shape.logs * log + (1 << 16);
    of->capacity = of->copied + vp_txchoice_size(MOST_THREADS) + (1 << 12);
    of->arena = vp_arena_new(of->capacity);
    of->ranks = calloc(shape.rows, sizeof *of->ranks);
    of->shares = calloc(shape.rows, sizeof *of->shares);
    of->image = malloc(of->copied);
    if (!of->arena || !of->ranks || !of->shares || !of->image) {
        load_free(of);
        return NULL;
    }
    of->group_at = vp_arena_allocate(of->arena, group);
    for (uint32_t i = 0; i < of->tables_count; i++)
        of->table_at[i] = vp_arena_allocate(of->arena, table);
    for (uint32_t i = 0; i < shape.logs; i++)
        of->log_at[i] = vp_arena_allocate(of->arena, log);
    of->copied = of->arena->used + sizeof(vp_arena);
    of->region_at = vp_arena_allocate(of->arena, vp_txchoice_size(MOST_THREADS));
    make_ranks(of);
    make_all(of);
    return of;
}

void load_free(load *of)
{
    if (of->arena)
        vp_arena_free(of->arena, of->capacity);
    free(of->image);
    free(of->ranks);
    free(of->shares);
    free(of);
}

static uint64_t mixed(uint64_t sum, uint64_t word)
{
    return (sum ^ word) * UINT64_C(1099511628211);
}

uint64_t load_checksum(load *of)
{
    uint64_t sum = 0;
    for (uint32_t number = 0; number < of->tables_count; number++)
        for (uint64_t row = 0; row < of->shape.rows; row++)
            sum = mixed(sum, (uint64_t)vp_shared_get(of->tables[number], row, 0));
    for (uint32_t log = 0; log < of->shape.logs; log++)
        for (uint64_t at = 0; at < vp_txlog_evaluated(of->logs[log]);) {
            vp_tx *tx = vp_txlog_tx(of->logs[log], &at);
            sum = mixed(sum, tx->status);
            for (uint32_t i = 0; i < tx->registers && tx->status == VP_TX_DONE; i++)
                sum = mixed(sum, (uint64_t)vp_tx_registers(tx)[i]);
            at += tx->size;
        }
    return sum;
}
