/* One transaction's program, run on the tables. What it writes is noted in an undo log; one that aborts goes back there.
 *
 * What is seldom done, or long, lies in functions of its own, in program.c.
 */
#ifndef VIPER_SRC_PROGRAM_H
#define VIPER_SRC_PROGRAM_H

#include "cost.h"
#include "txlog.h"
#include "txundo.h"

/* A table, as a program needs it. */
typedef struct {
    char *rows;
    uint64_t stride;
    const vp_shared *table;
    const uint32_t *elements; /* by column, the number of the table of its elements */
} vp_txtable;

/* What a step hands back that may write or fail. */
typedef struct {
    uint64_t length; /* undo entries that count */
    int64_t result;  /* for the register */
    uint32_t status; /* VP_TX_DONE: the program goes on */
} vp_txstep;

/* Makes a row that is not there, for a write to one column of it. */
vp_txstep vp_program_make(vp_txundo undo, uint64_t length, const vp_shared *table, vp_word *row, bool is_set);

/* VP_TX_PUT of a row, and VP_TX_DELETE. */
uint64_t vp_program_put(vp_txundo undo, uint64_t length, const vp_shared *table, vp_word *row);
uint64_t vp_program_delete(vp_txundo undo, uint64_t length, vp_word *row);

/* VP_TX_SET_ADD, VP_TX_SET_DISCARD and VP_TX_SET_HAS. */
vp_txstep vp_program_set(vp_txundo undo, uint64_t length, const vp_txtable *tables, const vp_tx_instruction *step,
                         vp_word *row);

/* Arithmetic other than comparisons: the result, and whether there is none. */
bool vp_program_compute(const vp_tx_instruction *step, int64_t left, int64_t right, int64_t *result);

/* How many words a transaction writes at most. */
uint64_t vp_program_words(const vp_txtable *tables, vp_tx *tx);

static inline vp_word *vp_program_row(const vp_txtable *tables, const vp_tx_instruction *step)
{
    const vp_txtable *table = &tables[step->table];
    return (vp_word *)(table->rows + step->row * table->stride);
}

static inline bool vp_tx_writes_register(uint8_t code)
{
    return code == VP_TX_READ || (code >= VP_TX_PUT_IF_ABSENT && code <= VP_TX_EXISTS && code != VP_TX_DELETE) ||
           code >= VP_TX_PLUS;
}

static inline double vp_as_double(int64_t word)
{
    union {
        int64_t word;
        double number;
    } both = {word};
    return both.number;
}

static inline int64_t vp_as_word(double number)
{
    union {
        double number;
        int64_t word;
    } both = {number};
    return both.word;
}

/* code: from 0 on, that of VP_TX_BELOW and the three behind it. */
static inline bool vp_program_compares(uint32_t code, bool is_float, int64_t left, int64_t right)
{
    double a = vp_as_double(left), b = vp_as_double(right);
    switch (code) {
    case 0:
        return is_float ? a < b : left < right;
    case 1:
        return is_float ? a <= b : left <= right;
    case 2:
        return is_float ? a == b : left == right;
    default:
        return is_float ? a != b : left != right;
    }
}

static inline int64_t vp_program_operand(const vp_tx_instruction *step, const int64_t *registers)
{
    return step->flags & VP_TX_REGISTER ? registers[step->operand] : step->operand;
}

/* value = column + value and so on; false on an overflow. */
static inline bool vp_program_changes(const vp_tx_instruction *step, int64_t column, int64_t *value)
{
    bool is_float = step->flags & VP_TX_FLOAT;
    double a = vp_as_double(column), b = vp_as_double(*value);
    switch (step->code) {
    case VP_TX_ADD:
        if (!is_float)
            return !__builtin_add_overflow(column, *value, value);
        *value = vp_as_word(a + b);
        return true;
    case VP_TX_SUBTRACT:
        if (!is_float)
            return !__builtin_sub_overflow(column, *value, value);
        *value = vp_as_word(a - b);
        return true;
    case VP_TX_MIN: /* of numbers that are none, as Python's min and max */
        *value = (is_float ? b < a : *value < column) ? *value : column;
        return true;
    default:
        *value = (is_float ? b > a : *value > column) ? *value : column;
        return true;
    }
}

/* How a program is run: where its registers are, and where it is in them and in itself. */
typedef struct {
    const vp_txtable *tables;
    int64_t *registers, *next; /* the next one to be written */
    const vp_tx_instruction *step, *end;
    vp_word *const *rows; /* of each instruction, if they are not those of the tables; else NULL */
    const vp_tx_instruction *first;
} vp_program;

static inline vp_word *vp_program_row_now(const vp_program *at)
{
    return at->rows ? at->rows[at->step - at->first] : vp_program_row(at->tables, at->step);
}

/* Runs the instruction that a program is at; it does not go on behind it, but for what that passes over. Returns
 * VP_TX_DONE, or why the transaction aborts. `length` is how many undo entries count. */
static inline uint32_t vp_program_step(vp_txundo undo, uint64_t *length, vp_program *at)
{
    const vp_tx_instruction *step = at->step;
    const int64_t *registers = at->registers;
    if (step->code < VP_TX_REQUIRE)
        VP_OPERATION_COST();
    switch (step->code) {
    case VP_TX_READ: {
        const vp_word *row = vp_program_row_now(at);
        const vp_shared *table = at->tables[step->table].table;
        if (__builtin_expect(vp_row_word(row) & VP_ROW_PRESENT, 1))
            *at->next++ = (int64_t)vp_row_word(&row[VP_ROW_COLUMNS + step->column]);
        else if (step->flags & VP_TX_DEFAULT)
            *at->next++ = vp_program_operand(step, registers);
        else if (table->has_defaults)
            *at->next++ = table->defaults[step->column];
        else
            return VP_TX_MISSING;
        return VP_TX_DONE;
    }
    case VP_TX_SET:
    case VP_TX_ADD:
    case VP_TX_SUBTRACT:
    case VP_TX_MIN:
    case VP_TX_MAX: {
        vp_word *row = vp_program_row_now(at), *column = &row[VP_ROW_COLUMNS + step->column];
        int64_t value = vp_program_operand(step, registers);
        bool is_set = step->code == VP_TX_SET;
        if (__builtin_expect(!(vp_row_word(row) & VP_ROW_PRESENT), 0)) {
            vp_txstep made = vp_program_make(undo, *length, at->tables[step->table].table, row, is_set);
            *length = made.length;
            if (made.status != VP_TX_DONE)
                return made.status;
        }
        if (!is_set && !vp_program_changes(step, (int64_t)vp_row_word(column), &value))
            return VP_TX_OVERFLOW;
        *length = vp_undo_write(undo, *length, column, (uint64_t)value);
        return VP_TX_DONE;
    }
    case VP_TX_PUT:
        *length = vp_program_put(undo, *length, at->tables[step->table].table, vp_program_row_now(at));
        return VP_TX_DONE;
    case VP_TX_PUT_IF_ABSENT: {
        vp_word *row = vp_program_row_now(at);
        bool is_absent = !(vp_row_word(row) & VP_ROW_PRESENT);
        *at->next++ = is_absent;
        if (is_absent)
            *length = vp_program_put(undo, *length, at->tables[step->table].table, row);
        for (int64_t left = is_absent ? 0 : step->operand; left > 0 && at->step + 1 < at->end; left--)
            if (vp_tx_writes_register((++at->step)->code))
                *at->next++ = 0;
        return VP_TX_DONE;
    }
    case VP_TX_DELETE:
        *length = vp_program_delete(undo, *length, vp_program_row_now(at));
        return VP_TX_DONE;
    case VP_TX_SET_ADD:
    case VP_TX_SET_DISCARD:
    case VP_TX_SET_HAS: {
        vp_txstep done = vp_program_set(undo, *length, at->tables, step, vp_program_row_now(at));
        *length = done.length;
        *at->next = done.result;
        at->next += done.status == VP_TX_DONE;
        return done.status;
    }
    case VP_TX_EXISTS:
        *at->next++ = vp_row_word(vp_program_row_now(at)) & VP_ROW_PRESENT;
        return VP_TX_DONE;
    case VP_TX_REQUIRE:
        return registers[step->row] ? VP_TX_DONE : VP_TX_FAILED_CONDITION;
    }
    bool is_swapped = step->flags & VP_TX_LEFT_IMMEDIATE, is_float = step->flags & VP_TX_FLOAT;
    int64_t other = registers[step->row], operand = vp_program_operand(step, registers), result;
    int64_t left = is_swapped ? operand : other, right = is_swapped ? other : operand;
    if (step->code < VP_TX_PLUS)
        return vp_program_compares(step->code - VP_TX_REQUIRE_BELOW, is_float, left, right) ? VP_TX_DONE
                                                                                           : VP_TX_FAILED_CONDITION;
    if (step->code >= VP_TX_BELOW && step->code <= VP_TX_UNEQUAL)
        result = vp_program_compares(step->code - VP_TX_BELOW, is_float, left, right);
    else if (!vp_program_compute(step, left, right, &result))
        return VP_TX_OVERFLOW;
    *at->next++ = result;
    return VP_TX_DONE;
}

/* Reads and sets, of which programs often have some one after the other, while there is nothing special about them:
 * with branches of their own, a Grep and Sum takes 54 ns instead of 62. */
static inline void vp_program_read_on(vp_program *at)
{
    while (at->step < at->end && at->step->code == VP_TX_READ) {
        const vp_word *row = vp_program_row_now(at);
        if (!(vp_row_word(row) & VP_ROW_PRESENT))
            return;
        VP_OPERATION_COST();
        *at->next++ = (int64_t)vp_row_word(&row[VP_ROW_COLUMNS + at->step->column]);
        at->step++;
    }
}

static inline void vp_program_set_on(vp_txundo undo, uint64_t *length, vp_program *at)
{
    while (at->step < at->end && at->step->code == VP_TX_SET) {
        vp_word *row = vp_program_row_now(at);
        if (!(vp_row_word(row) & VP_ROW_PRESENT))
            return;
        VP_OPERATION_COST();
        *length = vp_undo_write(undo, *length, &row[VP_ROW_COLUMNS + at->step->column],
                                (uint64_t)vp_program_operand(at->step, at->registers));
        at->step++;
    }
}

/* Runs the program of a transaction. `length` is how many undo entries count, before and then behind it. Returns its
 * status, and writes it into the transaction. */
static inline uint32_t vp_program_run(vp_txundo undo, uint64_t *entries, const vp_txtable *tables, vp_tx *tx,
                                      vp_word *const *rows)
{
    const vp_tx_instruction *first = vp_tx_program(tx);
    int64_t *registers = vp_tx_registers(tx);
    vp_program at = {tables, registers, registers, first, first + tx->program, rows, first};
    const uint64_t begun = *entries;
    uint64_t length = begun;
    uint32_t status = VP_TX_DONE;
    while (at.step < at.end) {
        if (at.step->code == VP_TX_READ)
            vp_program_read_on(&at);
        else if (at.step->code == VP_TX_SET)
            vp_program_set_on(undo, &length, &at);
        if (at.step == at.end)
            break;
        status = vp_program_step(undo, &length, &at);
        if (__builtin_expect(status != VP_TX_DONE, 0)) {
            length = vp_undo_back(undo, length, begun);
            tx->at = (uint32_t)(at.step - first);
            break;
        }
        at.step++;
    }
    tx->status = status;
    *entries = length;
    return status;
}

#endif
