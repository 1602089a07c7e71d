/* The steps of programs that are seldom, or long. */
#include "program.h"

static uint64_t default_of(const vp_shared *table, uint64_t column)
{
    return table->has_defaults ? (uint64_t)table->defaults[column] : 0;
}

static uint64_t write_defaults(vp_txundo undo, uint64_t length, const vp_shared *table, vp_word *row, uint64_t header)
{
    for (uint64_t column = 0; column < table->columns; column++)
        length = vp_undo_write(undo, length, &row[VP_ROW_COLUMNS + column], default_of(table, column));
    return vp_undo_write(undo, length, &row[VP_ROW_HEADER], header | VP_ROW_PRESENT);
}

vp_txstep vp_program_make(vp_txundo undo, uint64_t length, const vp_shared *table, vp_word *row, bool is_set)
{
    if (!table->has_defaults && !(is_set && table->columns == 1))
        return (vp_txstep){length, 0, VP_TX_MISSING};
    length = write_defaults(undo, length, table, row, vp_row_word(&row[VP_ROW_HEADER]));
    return (vp_txstep){length, 0, VP_TX_DONE};
}

/* The sets of a row that was there already are empty then, as their elements are of another generation. */
uint64_t vp_program_put(vp_txundo undo, uint64_t length, const vp_shared *table, vp_word *row)
{
    uint64_t header = vp_row_word(&row[VP_ROW_HEADER]);
    if (header & VP_ROW_PRESENT)
        header = vp_header_turned(header);
    return write_defaults(undo, length, table, row, header);
}

uint64_t vp_program_delete(vp_txundo undo, uint64_t length, vp_word *row)
{
    uint64_t header = vp_row_word(&row[VP_ROW_HEADER]);
    if (!(header & VP_ROW_PRESENT))
        return length;
    return vp_undo_write(undo, length, &row[VP_ROW_HEADER], vp_header_turned(header) & ~VP_ROW_PRESENT);
}

/* -- sets */

static bool is_in_set(const vp_word *row, const vp_word *element)
{
    return (vp_row_word(&element[VP_ROW_HEADER]) & VP_ROW_PRESENT) &&
           vp_row_word(&element[VP_ROW_COLUMNS]) == vp_header_generation(vp_row_word(&row[VP_ROW_HEADER]));
}

static uint64_t add_to_set(vp_txundo undo, uint64_t length, vp_word *row, vp_word *count, vp_word *element)
{
    uint64_t header = vp_row_word(&element[VP_ROW_HEADER]);
    uint64_t generation = vp_header_generation(vp_row_word(&row[VP_ROW_HEADER]));
    length = vp_undo_write(undo, length, &element[VP_ROW_COLUMNS], generation);
    if (!(header & VP_ROW_PRESENT))
        length = vp_undo_write(undo, length, &element[VP_ROW_HEADER], header | VP_ROW_PRESENT);
    return vp_undo_write(undo, length, count, vp_row_word(count) + 1);
}

static uint64_t discard_of_set(vp_txundo undo, uint64_t length, vp_word *count, vp_word *element)
{
    uint64_t header = vp_row_word(&element[VP_ROW_HEADER]);
    length = vp_undo_write(undo, length, &element[VP_ROW_HEADER], header & ~VP_ROW_PRESENT);
    return vp_undo_write(undo, length, count, vp_row_word(count) - 1);
}

vp_txstep vp_program_set(vp_txundo undo, uint64_t length, const vp_txtable *tables, const vp_tx_instruction *step,
                         vp_word *row)
{
    const vp_txtable *of = &tables[step->table], *elements = &tables[of->elements[step->column]];
    vp_word *count = &row[VP_ROW_COLUMNS + step->column];
    vp_word *element = (vp_word *)(elements->rows + (uint64_t)step->operand * elements->stride);
    if (!(vp_row_word(row) & VP_ROW_PRESENT)) {
        if (!of->table->has_defaults)
            return (vp_txstep){length, 0, VP_TX_MISSING};
        if (step->code != VP_TX_SET_ADD)
            return (vp_txstep){length, 0, VP_TX_DONE};
        length = vp_program_make(undo, length, of->table, row, false).length;
    }
    bool is_in = is_in_set(row, element);
    if (step->code == VP_TX_SET_ADD && !is_in)
        length = add_to_set(undo, length, row, count, element);
    if (step->code == VP_TX_SET_DISCARD && is_in)
        length = discard_of_set(undo, length, count, element);
    return (vp_txstep){length, step->code == VP_TX_SET_ADD ? !is_in : is_in, VP_TX_DONE};
}

/* -- arithmetic */

/* As Python's: towards minus infinity. */
static bool divide(int64_t left, int64_t right, int64_t *result)
{
    if (right == 0 || (left == INT64_MIN && right == -1))
        return false;
    *result = left / right - (left % right != 0 && (left % right < 0) != (right < 0));
    return true;
}

static bool compute_integers(uint8_t code, int64_t left, int64_t right, int64_t *result)
{
    switch (code) {
    case VP_TX_PLUS:
        return !__builtin_add_overflow(left, right, result);
    case VP_TX_MINUS:
        return !__builtin_sub_overflow(left, right, result);
    case VP_TX_TIMES:
        return !__builtin_mul_overflow(left, right, result);
    case VP_TX_DIVIDED:
        return divide(left, right, result);
    case VP_TX_LEAST:
        *result = right < left ? right : left;
        return true;
    default:
        *result = right > left ? right : left;
        return true;
    }
}

static bool compute_doubles(uint8_t code, double left, double right, int64_t *result)
{
    switch (code) {
    case VP_TX_PLUS:
        *result = vp_as_word(left + right);
        return true;
    case VP_TX_MINUS:
        *result = vp_as_word(left - right);
        return true;
    case VP_TX_TIMES:
        *result = vp_as_word(left * right);
        return true;
    case VP_TX_DIVIDED:
        if (right == 0)
            return false;
        *result = vp_as_word(left / right);
        return true;
    case VP_TX_LEAST:
        *result = vp_as_word(right < left ? right : left);
        return true;
    default:
        *result = vp_as_word(right > left ? right : left);
        return true;
    }
}

bool vp_program_compute(const vp_tx_instruction *step, int64_t left, int64_t right, int64_t *result)
{
    switch (step->code) {
    case VP_TX_AND:
        *result = left && right;
        return true;
    case VP_TX_OR:
        *result = left || right;
        return true;
    case VP_TX_NOT:
        *result = !left;
        return true;
    case VP_TX_TO_FLOAT:
        *result = vp_as_word((double)left);
        return true;
    }
    if (step->flags & VP_TX_FLOAT)
        return compute_doubles(step->code, vp_as_double(left), vp_as_double(right), result);
    return compute_integers(step->code, left, right, result);
}

/* -- how much is written */

static uint64_t words_of(uint8_t code, uint64_t columns)
{
    switch (code) {
    case VP_TX_DELETE:
        return 1;
    case VP_TX_PUT:
    case VP_TX_PUT_IF_ABSENT:
        return columns + 1;
    default: /* makes the row, if need be, and writes one word, or three of a set */
        return code >= VP_TX_SET && code <= VP_TX_SET_DISCARD ? columns + 4 : 0;
    }
}

uint64_t vp_program_words(const vp_txtable *tables, vp_tx *tx)
{
    uint64_t words = 0;
    const vp_tx_instruction *program = vp_tx_program(tx);
    for (uint32_t i = 0; i < tx->program; i++)
        words += words_of(program[i].code, tables[program[i].table].table->columns);
    return words;
}
