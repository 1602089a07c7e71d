/* One transaction's program, run on the tables. What it writes is noted in an undo log; one that aborts goes back there.
 *
 * The next instruction's code is what a processor must foresee, so runs of reads and of sets have branches of their own:
 * a Grep and Sum takes 54 ns instead of 62. What is seldom done lies in functions of its own, in program.c.
 */
#ifndef VIPER_SRC_PROGRAM_H
#define VIPER_SRC_PROGRAM_H

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

/* VP_TX_SET_ADD, VP_TX_SET_DISCARD and VP_TX_SET_HAS, of a row of elements. */
vp_txstep vp_program_set(vp_txundo undo, uint64_t length, const vp_txtable *tables, const vp_tx_instruction *step,
                         uint64_t element);

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

/* Runs the program of a transaction. `length` is how many undo entries count, before and then behind it. Returns its
 * status, and writes it into the transaction. */
static inline uint32_t vp_program_run(vp_txundo undo, uint64_t *entries, const vp_txtable *tables, vp_tx *tx)
{
    int64_t *registers = vp_tx_registers(tx), *next = registers;
    const vp_tx_instruction *first = vp_tx_program(tx), *end = first + tx->program;
    const uint64_t begun = *entries;
    uint64_t length = begun;
    uint32_t status = VP_TX_DONE;
    for (const vp_tx_instruction *step = first; step < end; step++) {
        switch (step->code) {
        case VP_TX_READ:
        next_read: {
            const vp_word *row = vp_program_row(tables, step);
            if (__builtin_expect(vp_row_word(row) & VP_ROW_PRESENT, 1)) {
                *next++ = (int64_t)vp_row_word(&row[VP_ROW_COLUMNS + step->column]);
                if (step + 1 < end && step[1].code == VP_TX_READ) {
                    step++;
                    goto next_read;
                }
                break;
            }
            const vp_shared *table = tables[step->table].table;
            if (!(step->flags & VP_TX_DEFAULT) && !table->has_defaults) {
                status = VP_TX_MISSING;
                goto aborted;
            }
            bool is_told = step->flags & VP_TX_DEFAULT;
            *next++ = is_told ? vp_program_operand(step, registers) : table->defaults[step->column];
            break;
        }
        case VP_TX_SET:
        next_set: {
            vp_word *row = vp_program_row(tables, step), *column = &row[VP_ROW_COLUMNS + step->column];
            if (__builtin_expect(!(vp_row_word(row) & VP_ROW_PRESENT), 0)) {
                vp_txstep made = vp_program_make(undo, length, tables[step->table].table, row, true);
                length = made.length;
                if ((status = made.status) != VP_TX_DONE)
                    goto aborted;
            }
            length = vp_undo_write(undo, length, column, (uint64_t)vp_program_operand(step, registers));
            if (step + 1 < end && step[1].code == VP_TX_SET) {
                step++;
                goto next_set;
            }
            break;
        }
        case VP_TX_ADD:
        case VP_TX_SUBTRACT:
        case VP_TX_MIN:
        case VP_TX_MAX: {
            vp_word *row = vp_program_row(tables, step), *column = &row[VP_ROW_COLUMNS + step->column];
            int64_t value = vp_program_operand(step, registers);
            if (__builtin_expect(!(vp_row_word(row) & VP_ROW_PRESENT), 0)) {
                vp_txstep made = vp_program_make(undo, length, tables[step->table].table, row, false);
                length = made.length;
                if ((status = made.status) != VP_TX_DONE)
                    goto aborted;
            }
            if (!vp_program_changes(step, (int64_t)vp_row_word(column), &value)) {
                status = VP_TX_OVERFLOW;
                goto aborted;
            }
            length = vp_undo_write(undo, length, column, (uint64_t)value);
            break;
        }
        case VP_TX_PUT:
            length = vp_program_put(undo, length, tables[step->table].table, vp_program_row(tables, step));
            break;
        case VP_TX_PUT_IF_ABSENT: {
            vp_word *row = vp_program_row(tables, step);
            bool is_absent = !(vp_row_word(row) & VP_ROW_PRESENT);
            *next++ = is_absent;
            if (is_absent) {
                length = vp_program_put(undo, length, tables[step->table].table, row);
                break;
            }
            for (int64_t left = step->operand; left > 0 && step + 1 < end; left--)
                if (vp_tx_writes_register((++step)->code))
                    *next++ = 0;
            break;
        }
        case VP_TX_DELETE:
            length = vp_program_delete(undo, length, vp_program_row(tables, step));
            break;
        case VP_TX_SET_ADD:
        case VP_TX_SET_DISCARD:
        case VP_TX_SET_HAS: {
            vp_txstep done = vp_program_set(undo, length, tables, step,
                                            (uint64_t)vp_program_operand(step, registers));
            length = done.length;
            if ((status = done.status) != VP_TX_DONE)
                goto aborted;
            *next++ = done.result;
            break;
        }
        case VP_TX_EXISTS:
            *next++ = vp_row_word(vp_program_row(tables, step)) & VP_ROW_PRESENT;
            break;
        case VP_TX_REQUIRE:
            if (!registers[step->row]) {
                status = VP_TX_FAILED_CONDITION;
                goto aborted;
            }
            break;
        case VP_TX_REQUIRE_BELOW:
        case VP_TX_REQUIRE_AT_MOST:
        case VP_TX_REQUIRE_EQUAL:
        case VP_TX_REQUIRE_UNEQUAL:
        case VP_TX_BELOW:
        case VP_TX_AT_MOST:
        case VP_TX_EQUAL:
        case VP_TX_UNEQUAL: {
            bool is_swapped = step->flags & VP_TX_LEFT_IMMEDIATE, is_float = step->flags & VP_TX_FLOAT;
            int64_t other = registers[step->row], operand = vp_program_operand(step, registers);
            int64_t left = is_swapped ? operand : other, right = is_swapped ? other : operand;
            if (step->code >= VP_TX_BELOW) {
                *next++ = vp_program_compares(step->code - VP_TX_BELOW, is_float, left, right);
            } else if (!vp_program_compares(step->code - VP_TX_REQUIRE_BELOW, is_float, left, right)) {
                status = VP_TX_FAILED_CONDITION;
                goto aborted;
            }
            break;
        }
        default: {
            bool is_swapped = step->flags & VP_TX_LEFT_IMMEDIATE;
            int64_t other = registers[step->row], operand = vp_program_operand(step, registers), result;
            if (!vp_program_compute(step, is_swapped ? operand : other, is_swapped ? other : operand, &result)) {
                status = VP_TX_OVERFLOW;
                goto aborted;
            }
            *next++ = result;
        }
        }
        continue;
    aborted:
        length = vp_undo_back(undo, length, begun);
        tx->at = (uint32_t)(step - first);
        break;
    }
    tx->status = status;
    *entries = length;
    return status;
}

#endif
