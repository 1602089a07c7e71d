#include "load.h"

#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "programs.h"

const char *const load_names[LOADS] = {"grep and sum", "ledger", "ledger, apart", "bidding", "toll"};

enum { BALANCE = 1000000, FIRST_QUANTITY = 100, MOST_WORDS = 2 };

/* -- logs */

static void append(load *of, uint64_t *ends, uint32_t log, int64_t ts, const program *from)
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

/* Each of an event's transactions is of a component of its own, which has some of the logs. */
static void write_logs(load *of)
{
    uint64_t seed = of->shape.seed, ends[MOST_LOGS] = {0};
    uint32_t components = transactions_of_event(of->shape.kind);
    for (uint32_t i = 0; i < of->shape.transactions; i++) {
        program made = {.count = 0};
        write_program(of, &seed, i, &made);
        uint32_t task = random_below(&seed, of->shape.logs / components);
        append(of, ends, task * components + i % components, i / components, &made);
    }
    for (uint32_t log = 0; log < of->shape.logs; log++)
        vp_txlog_publish(of->logs[log], ends[log]);
}

void load_collect(load *of, uint32_t transactions)
{
    int64_t event = transactions / transactions_of_event(of->shape.kind);
    vp_position position = transactions < of->shape.transactions ? (vp_position){event, 0, 0, 0} : VP_END;
    for (uint32_t log = 0; log < of->shape.logs; log++)
        vp_txlog_collected(of->logs[log], position);
}

/* -- tables */

typedef struct {
    uint32_t count, columns[MOST_TABLES], rows[MOST_TABLES];
} form;

/* Columns that no transaction names make rows as large as the paper's. */
static form form_of(const load_shape *shape)
{
    uint32_t rows = shape->rows;
    switch (shape->kind) {
    case GREP_AND_SUM:
        return (form){1, {14}, {rows}};
    case BIDDING:
        return (form){1, {5}, {rows}};
    case TOLL:
        return (form){3, {1, 1, 1}, {rows, rows, rows * TOLL_VEHICLES}};
    default:
        return (form){2, {11, 11}, {rows, rows}};
    }
}

static void first_words(load_kind kind, uint64_t key, int64_t *words)
{
    double speed = 60;
    words[0] = kind == BIDDING ? (int64_t)(key * 7919 % 100) : kind == TOLL ? 0 : BALANCE;
    words[1] = kind == BIDDING ? FIRST_QUANTITY : 0;
    if (kind == TOLL)
        memcpy(words, &speed, sizeof speed);
}

static void make_table(load *of, uint32_t number)
{
    form made = form_of(&of->shape);
    vp_shared *table = vp_shared_format(of->arena, of->table_at[number], made.rows[number], made.columns[number], 0, NULL);
    for (uint64_t key = 0; key < made.rows[number]; key++) {
        int64_t words[VP_SHARED_COLUMNS] = {0}, row = vp_shared_enter(table, key * UINT64_C(0x9e3779b97f4a7c15), &key, 8);
        if (of->shape.kind != TOLL || number == 0)
            first_words(of->shape.kind, key, words);
        if (number < 2) /* the third one has elements of sets, which are empty */
            vp_shared_put(table, (uint64_t)row, words);
    }
    of->tables[number] = table;
}

static void make_all(load *of)
{
    uint32_t components = transactions_of_event(of->shape.kind);
    of->group = vp_txgroup_format(of->arena, of->group_at, of->tables_count, of->shape.logs);
    for (uint32_t i = 0; i < of->tables_count; i++) {
        make_table(of, i);
        vp_txgroup_set_table(of->group, i, of->table_at[i]);
    }
    if (of->shape.kind == TOLL)
        vp_txgroup_set_elements(of->group, 1, 0, 2);
    for (uint32_t i = 0; i < of->shape.logs; i++) {
        uint32_t component = components > 1 ? i % components : i;
        of->logs[i] = vp_txlog_format(of->arena, of->log_at[i], of->log_bytes, component, i);
        vp_txgroup_set_log(of->group, i, of->log_at[i]);
    }
    write_logs(of);
    memcpy(of->image, of->arena, of->copied);
}

/* Behind the copy, which is larger than caches, rows are where they are while a group is evaluated again and again. */
void load_reset(load *of)
{
    static volatile int64_t sum;
    form made = form_of(&of->shape);
    memcpy(of->arena, of->image, of->copied);
    for (uint32_t number = 0; number < of->tables_count; number++)
        for (uint64_t row = 0; row < made.rows[number]; row++)
            sum += vp_shared_get(of->tables[number], row, 0);
}

/* -- memory */

static uint64_t power_above(uint64_t bytes)
{
    uint64_t power = 4096;
    while (power < bytes)
        power *= 2;
    return power;
}

static load_shape completed(load_shape shape)
{
    uint32_t components = transactions_of_event(shape.kind);
    shape.rows = shape.kind == TOLL ? TOLL_SEGMENTS : shape.rows ? shape.rows : 10000;
    shape.accesses = shape.accesses ? shape.accesses : shape.kind == BIDDING ? 20 : 10;
    shape.accesses = shape.accesses < MOST_ACCESSES ? shape.accesses : MOST_ACCESSES;
    shape.partitions = shape.kind == TOLL ? 0 : shape.partitions;
    shape.logs = shape.logs < components ? components : shape.logs / components * components;
    shape.transactions -= shape.transactions % components;
    return shape;
}

static uint64_t tables_size(const form *of)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < of->count; i++)
        size += vp_shared_size(of->rows[i], of->columns[i], 0) + VP_LINE;
    return size;
}

static bool allocate(load *of, const form *with)
{
    uint64_t group = vp_txgroup_size(of->tables_count, of->shape.logs), log = vp_txlog_size(of->log_bytes);
    of->copied = tables_size(with) + group + of->shape.logs * log + (1 << 16);
    of->capacity = of->copied + vp_txchoice_size(MOST_THREADS) + (1 << 12);
    of->arena = vp_arena_new(of->capacity);
    of->ranks = calloc(of->shape.rows, sizeof *of->ranks);
    of->shares = calloc(of->shape.rows, sizeof *of->shares);
    of->image = malloc(of->copied);
    if (!of->arena || !of->ranks || !of->shares || !of->image)
        return false;
    of->group_at = vp_arena_allocate(of->arena, group);
    for (uint32_t i = 0; i < of->tables_count; i++)
        of->table_at[i] = vp_arena_allocate(of->arena, vp_shared_size(with->rows[i], with->columns[i], 0));
    for (uint32_t i = 0; i < of->shape.logs; i++)
        of->log_at[i] = vp_arena_allocate(of->arena, log);
    of->copied = of->arena->used + sizeof(vp_arena);
    of->region_at = vp_arena_allocate(of->arena, vp_txchoice_size(MOST_THREADS));
    return true;
}

load *load_new(load_shape shape)
{
    load *of = calloc(1, sizeof *of);
    if (!of)
        return NULL;
    of->shape = completed(shape);
    form made = form_of(&of->shape);
    of->tables_count = made.count;
    uint64_t most = sizeof(vp_tx) + program_bytes_most(&of->shape);
    of->log_bytes = power_above(most * of->shape.transactions / of->shape.logs * 5 / 4 + 4096);
    if (!allocate(of, &made)) {
        load_free(of);
        return NULL;
    }
    draw_prepare(of);
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
    form made = form_of(&of->shape);
    for (uint32_t number = 0; number < made.count; number++)
        for (uint64_t row = 0; row < made.rows[number]; row++)
            for (uint32_t column = 0; column < made.columns[number] && column < MOST_WORDS; column++)
                sum = mixed(sum, (uint64_t)vp_shared_get(of->tables[number], row, column));
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
