/* Tables and logs in an arena, and plans of random transactions on them with what a model says of their results. */
#ifndef VIPER_TX_CHECK_H
#define VIPER_TX_CHECK_H

#include "tx_model.h"
#include "txgroup.h"
#include "viper/arena.h"

/* -- what the logs get */

typedef struct {
    vp_position position;
    uint32_t log, index; /* its index in the log */
    uint16_t kind;
    uint32_t count, registers;
    uint64_t end; /* byte counter behind it */
    vp_tx_instruction steps[MOST_STEPS];
    result expected;
} planned;

static inline void random_program(planned *of, uint64_t *seed)
{
    writing w = {.seed = seed};
    of->kind = VP_TX_PROGRAM;
    of->count = random_below(seed, MOST_STEPS + 1);
    memset(of->steps, 0, sizeof of->steps);
    for (uint32_t i = 0; i < of->count; i++)
        if (random_below(seed, 3) || !random_arithmetic(&w, &of->steps[i])) {
            of->steps[i] = (vp_tx_instruction){0};
            random_access(&w, &of->steps[i]);
        }
    of->registers = w.written;
}

static inline uint32_t bytes_of(const planned *of)
{
    return (uint32_t)(sizeof(vp_tx) + (of->registers + 1) / 2 * 16 + of->count * sizeof(vp_tx_instruction));
}

/* Writes a transaction at a byte counter, which moves behind it; false without room. */
static inline bool write_planned(vp_txlog *log, uint64_t *at, const planned *of)
{
    vp_tx *tx = vp_txlog_room(log, at, bytes_of(of));
    if (!tx)
        return false;
    *tx = (vp_tx){.size = bytes_of(of), .kind = of->kind, .registers = (uint16_t)of->registers,
                  .program = (uint16_t)of->count, .ts = of->position.ts, .hi = of->position.hi, .lo = of->position.lo};
    memcpy(vp_tx_program(tx), of->steps, of->count * sizeof *of->steps);
    *at += tx->size;
    return true;
}

static inline void check_result(vp_tx *tx, const planned *of)
{
    CHECK(vp_compare(vp_tx_position(tx), of->position) == 0);
    CHECK_EQUAL(tx->status, of->expected.status);
    if (tx->status != VP_TX_DONE) {
        CHECK_EQUAL(tx->at, of->expected.at);
        return;
    }
    CHECK_EQUAL(of->registers, of->expected.written);
    for (uint32_t i = 0; i < of->registers; i++)
        CHECK_EQUAL(vp_tx_registers(tx)[i], of->expected.registers[i]);
}

/* -- the tables, in an arena */

typedef struct {
    vp_arena *arena;
    vp_txgroup *group;
    vp_shared *tables[TABLES];
    vp_txlog *logs[MOST_LOGS];
    uint32_t log_count;
} world;

static inline uint64_t world_size(uint64_t log_bytes)
{
    return vp_txgroup_size(TABLES, MOST_LOGS) + MOST_LOGS * vp_txlog_size(log_bytes) +
           TABLES * vp_shared_size(ROWS * ELEMENTS, COLUMNS, 0) + (1 << 14);
}

static inline uint64_t region(vp_arena *arena, uint64_t size)
{
    uint64_t offset = vp_arena_allocate(arena, size);
    CHECK(size && offset);
    return offset;
}

static inline void make_table(world *w, model *of, uint32_t number)
{
    int64_t defaults[COLUMNS];
    uint32_t columns = columns_of(number), rows = columns ? ROWS : ROWS * ELEMENTS;
    for (uint32_t column = 0; column < COLUMNS; column++)
        defaults[column] = default_at(number, column);
    uint64_t at = region(w->arena, vp_shared_size(rows, columns ? columns : 1, 0));
    w->tables[number] = vp_shared_format(w->arena, at, rows, columns ? columns : 1, 0,
                                         HAS_DEFAULTS[number] ? defaults : NULL);
    vp_txgroup_set_table(w->group, number, at);
    for (uint64_t row = 0; row < rows; row++)
        CHECK_EQUAL(vp_shared_enter(w->tables[number], row * UINT64_C(0x9e3779b97f4a7c15), &row, sizeof row), row);
    for (uint32_t row = 0; columns && row < ROWS; row += 2) {
        const int64_t words[COLUMNS] = {row, 0, row};
        clear_row(&of->rows[number][row], number, true);
        for (uint32_t column = 0; column < columns; column++)
            if (!is_set(FORMS[number][column]))
                of->rows[number][row].words[column] = words[column];
        vp_shared_put(w->tables[number], row, of->rows[number][row].words);
    }
    for (uint32_t column = 0; column < columns; column++)
        if (is_set(FORMS[number][column]))
            vp_txgroup_set_elements(w->group, number, column, elements_of(FORMS[number][column]));
}

/* Tables as a model that it writes, and logs of which each two have a component together. */
static inline world make_world(vp_arena *arena, model *of, uint32_t logs, uint64_t log_bytes)
{
    world w = {.arena = arena, .log_count = logs};
    uint64_t group = region(arena, vp_txgroup_size(TABLES, logs));
    w.group = vp_txgroup_format(arena, group, TABLES, logs);
    memset(of, 0, sizeof *of);
    for (uint32_t number = 0; number < TABLES; number++)
        make_table(&w, of, number);
    for (uint32_t number = 0; number < logs; number++) {
        uint64_t log = region(arena, vp_txlog_size(log_bytes));
        uint32_t place = (number * 7 + 3) % logs; /* not that of its number */
        w.logs[number] = vp_txlog_format(arena, log, log_bytes, place / 2, place % 2);
        vp_txgroup_set_log(w.group, number, log);
    }
    return w;
}

static inline void check_row(const world *w, uint32_t table, uint32_t row, const model_row *of)
{
    CHECK_EQUAL(vp_shared_is_present(w->tables[table], row), of->present);
    for (uint32_t column = 0; column < columns_of(table); column++) {
        form is = FORMS[table][column];
        if (of->present)
            CHECK_EQUAL(vp_shared_get(w->tables[table], row, column), cell(of, table, column));
        const vp_shared *elements = w->tables[is_set(is) ? elements_of(is) : 0];
        for (uint32_t i = row * ELEMENTS; is_set(is) && i < (row + 1) * ELEMENTS; i++)
            CHECK_EQUAL(vp_shared_is_present(elements, i) &&
                            (uint64_t)vp_shared_get(elements, i, 0) == vp_shared_generation(w->tables[table], row),
                        of->in[column][i % ELEMENTS]);
    }
}

static inline void check_tables(const world *w, const model *of)
{
    for (uint32_t i = 0; i < sizeof PROGRAMMED / sizeof *PROGRAMMED; i++)
        for (uint32_t row = 0; row < ROWS; row++)
            check_row(w, PROGRAMMED[i], row, &of->rows[PROGRAMMED[i]][row]);
}

/* -- a plan: what all logs get, in each log's order */

typedef struct {
    planned all[MOST_PLANNED]; /* behind plan_results, in the one order of all */
    uint32_t of_log[MOST_LOGS][MOST_PLANNED], counts[MOST_LOGS], count;
    model first;
} plan;

static inline void advance(vp_position *position, uint64_t *seed)
{
    switch (random_below(seed, 6)) {
    case 0: position->ts += 1 + random_below(seed, 3); position->hi = position->lo = 0; break;
    case 1: position->hi += 1 + random_below(seed, 2); position->lo = 0; break;
    case 2: case 3: position->lo += random_below(seed, 3); break;
    default: break; /* equal */
    }
}

static inline void random_plan(plan *p, uint64_t *seed, uint32_t logs, uint32_t count, uint32_t alone_each)
{
    vp_position positions[MOST_LOGS];
    for (uint32_t log = 0; log < logs; log++) {
        positions[log] = (vp_position){-3, 0, 0, 0};
        p->counts[log] = 0;
    }
    p->count = count;
    for (uint32_t i = 0; i < count; i++) {
        planned *of = &p->all[i];
        uint32_t log = random_below(seed, logs);
        *of = (planned){.log = log, .index = p->counts[log]++};
        advance(&positions[log], seed);
        of->position = positions[log];
        random_program(of, seed);
        if (alone_each && random_below(seed, alone_each) == 0) {
            of->kind = VP_TX_ALONE;
            of->count = of->registers = 0;
        }
    }
}

static const world *compared_in;

static inline int compare_planned(const void *one, const void *other)
{
    const planned *a = one, *b = other;
    const vp_txlog *of_a = compared_in->logs[a->log], *of_b = compared_in->logs[b->log];
    int order = vp_compare(a->position, b->position);
    if (order == 0)
        order = of_a->component != of_b->component ? (of_a->component > of_b->component ? 1 : -1)
                                                   : (of_a->task > of_b->task) - (of_a->task < of_b->task);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static inline result model_planned(model *on, const planned *of)
{
    return of->kind == VP_TX_ALONE ? model_alone(on) : model_program(on, of->steps, of->count);
}

/* Sorts all, and runs all on the model. moments, unless NULL: what is there behind so many. */
static inline void plan_results(plan *p, const world *w, model *on, model *moments)
{
    compared_in = w;
    qsort(p->all, p->count, sizeof *p->all, compare_planned);
    for (uint32_t i = 0; i < p->count; i++) {
        if (moments)
            moments[i] = *on;
        p->of_log[p->all[i].log][p->all[i].index] = i;
        p->all[i].expected = model_planned(on, &p->all[i]);
    }
    if (moments)
        moments[p->count] = *on;
}

static inline planned *planned_at(plan *p, uint32_t log, uint32_t index)
{
    return &p->all[p->of_log[log][index]];
}

/* What model_alone does, through the group. */
static inline void run_alone(const world *w)
{
    int64_t sum = 1;
    for (uint32_t i = 0; i < ROWS; i++)
        sum += vp_shared_is_present(w->tables[1], i) ? vp_shared_get(w->tables[1], i, 0) % 1000 : 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        int64_t word = sum + i;
        CHECK_EQUAL(vp_txgroup_alone_write(w->group, 1, i, word % 5 != 0, &word), 0);
    }
    vp_txgroup_alone_done(w->group, sum % 2 == 0 ? VP_TX_DONE : VP_TX_FAILED_ALONE);
}

#endif
