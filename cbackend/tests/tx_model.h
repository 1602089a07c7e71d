/* A model of small tables that anybody can see through: rows with true sets, all copied before each transaction, and
 * arithmetic on 128 bits. And random instructions on it.
 */
#ifndef VIPER_TX_MODEL_H
#define VIPER_TX_MODEL_H

#include <string.h>

#include "check.h"
#include "viper/txlog.h"

__extension__ typedef __int128 wide;

enum { TABLES = 8, ROWS = 6, ELEMENTS = 4, COLUMNS = 3, MOST_STEPS = 14, MOST_LOGS = 6, MOST_PLANNED = 3000 };

/* What a column is, and the table of the elements of a set. */
typedef enum { NONE, INTEGER, DOUBLE, SET_3, SET_4, SET_6 } form;

static const form FORMS[TABLES][COLUMNS] = {
    {INTEGER, DOUBLE, INTEGER}, {INTEGER}, {INTEGER, SET_3, SET_4}, {NONE}, {NONE}, {INTEGER, SET_6}, {NONE}, {DOUBLE},
};
static const bool HAS_DEFAULTS[TABLES] = {false, false, true, false, false, false, false, true};
static const uint32_t PROGRAMMED[] = {0, 1, 2, 5, 7}; /* the others have elements */

static inline bool is_set(form of)
{
    return of >= SET_3;
}

static inline uint32_t elements_of(form of)
{
    return of == SET_3 ? 3 : of == SET_4 ? 4 : 6;
}

static inline uint32_t columns_of(uint32_t table)
{
    uint32_t count = 0;
    while (count < COLUMNS && FORMS[table][count] != NONE)
        count++;
    return count;
}

static inline int64_t bits_of(double number)
{
    int64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

static inline double number_of(int64_t word)
{
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

static inline int64_t default_at(uint32_t table, uint32_t column)
{
    if (!HAS_DEFAULTS[table] || is_set(FORMS[table][column]))
        return 0;
    return FORMS[table][column] == DOUBLE ? bits_of(1.5) : 5;
}

/* -- the model */

typedef struct {
    bool present;
    int64_t words[COLUMNS];
    bool in[COLUMNS][ELEMENTS];
} model_row;

typedef struct {
    model_row rows[TABLES][ROWS];
} model;

static inline void clear_row(model_row *row, uint32_t table, bool present)
{
    memset(row, 0, sizeof *row);
    row->present = present;
    for (uint32_t column = 0; present && column < COLUMNS; column++)
        row->words[column] = default_at(table, column);
}

static inline int64_t cell(const model_row *row, uint32_t table, uint32_t column)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < ELEMENTS; i++)
        count += row->in[column][i];
    return is_set(FORMS[table][column]) ? count : row->words[column];
}

/* What an arithmetic instruction, or a change of a column, comes to; false without a result. */
static inline bool outcome(uint8_t code, bool is_float, int64_t l, int64_t r, int64_t *result)
{
    double a = number_of(l), b = number_of(r), x = 0;
    wide n = 0;
    switch (code) {
    case VP_TX_PLUS: n = (wide)l + r; x = a + b; break;
    case VP_TX_MINUS: n = (wide)l - r; x = a - b; break;
    case VP_TX_TIMES: n = (wide)l * r; x = a * b; break;
    case VP_TX_DIVIDED:
        if (is_float ? b == 0 : r == 0)
            return false;
        x = a / b;
        n = is_float ? 0 : ((wide)l - (((wide)l % r) + r) % r) / r;
        break;
    case VP_TX_LEAST: n = l < r ? l : r; x = b < a ? b : a; break; /* of equal zeros the left one, as Python's */
    default: n = l > r ? l : r; x = b > a ? b : a; break;
    }
    *result = is_float ? bits_of(x) : (int64_t)n;
    return is_float || (n >= INT64_MIN && n <= INT64_MAX);
}

static inline int64_t compares(uint8_t which, bool is_float, int64_t l, int64_t r)
{
    int order = is_float ? (number_of(l) > number_of(r)) - (number_of(l) < number_of(r)) : (l > r) - (l < r);
    return which == 0 ? order < 0 : which == 1 ? order <= 0 : which == 2 ? order == 0 : order != 0;
}

typedef struct {
    uint32_t status, at, written;
    int64_t registers[MOST_STEPS];
} result;

/* One step on a copy of the tables; its status, and in *skip how many steps are passed over behind it. */
static inline uint32_t model_step(model *on, const vp_tx_instruction *s, result *so_far, int64_t *skip)
{
    static const uint8_t as_arithmetic[] = {VP_TX_PLUS, VP_TX_MINUS, VP_TX_LEAST, VP_TX_GREATEST};
    bool is_float = s->flags & VP_TX_FLOAT, makes = HAS_DEFAULTS[s->table];
    int64_t operand = s->flags & VP_TX_REGISTER ? so_far->registers[s->operand] : s->operand, found = 0;
    int64_t *into = &so_far->registers[so_far->written];
    model_row *row = &on->rows[s->table][s->row < ROWS ? s->row : 0];
    switch (s->code) {
    case VP_TX_READ:
        if (!row->present && !(s->flags & VP_TX_DEFAULT) && !makes)
            return VP_TX_MISSING;
        *into = row->present ? cell(row, s->table, s->column)
                             : s->flags & VP_TX_DEFAULT ? operand : default_at(s->table, s->column);
        so_far->written++;
        return VP_TX_DONE;
    case VP_TX_SET: case VP_TX_ADD: case VP_TX_SUBTRACT: case VP_TX_MIN: case VP_TX_MAX:
        if (!row->present) {
            if (!makes && !(s->code == VP_TX_SET && columns_of(s->table) == 1))
                return VP_TX_MISSING;
            clear_row(row, s->table, true);
        }
        if (s->code == VP_TX_SET)
            row->words[s->column] = operand;
        else if (!outcome(as_arithmetic[s->code - VP_TX_ADD], is_float, row->words[s->column], operand,
                          &row->words[s->column]))
            return VP_TX_OVERFLOW;
        return VP_TX_DONE;
    case VP_TX_PUT_IF_ABSENT:
        *into = !row->present;
        so_far->written++;
        if (row->present) {
            *skip = operand;
            return VP_TX_DONE;
        }
        clear_row(row, s->table, true);
        return VP_TX_DONE;
    case VP_TX_PUT: clear_row(row, s->table, true); return VP_TX_DONE;
    case VP_TX_DELETE: clear_row(row, s->table, false); return VP_TX_DONE;
    case VP_TX_SET_ADD: case VP_TX_SET_DISCARD: case VP_TX_SET_HAS: {
        if (!row->present && !makes)
            return VP_TX_MISSING;
        if (!row->present && s->code == VP_TX_SET_ADD)
            clear_row(row, s->table, true);
        bool *in = &row->in[s->column][operand % ELEMENTS], was = *in;
        *in = s->code == VP_TX_SET_ADD || (s->code == VP_TX_SET_HAS && was);
        *into = s->code == VP_TX_SET_ADD ? !was : was;
        so_far->written++;
        return VP_TX_DONE;
    }
    case VP_TX_EXISTS: *into = row->present; so_far->written++; return VP_TX_DONE;
    case VP_TX_REQUIRE: return so_far->registers[s->row] ? VP_TX_DONE : VP_TX_FAILED_CONDITION;
    }
    int64_t left = so_far->registers[s->row], right = operand;
    if (s->flags & VP_TX_LEFT_IMMEDIATE) {
        right = left;
        left = operand;
    }
    if (s->code >= VP_TX_REQUIRE_BELOW && s->code <= VP_TX_REQUIRE_UNEQUAL)
        return compares(s->code - VP_TX_REQUIRE_BELOW, is_float, left, right) ? VP_TX_DONE : VP_TX_FAILED_CONDITION;
    if (s->code >= VP_TX_BELOW && s->code <= VP_TX_UNEQUAL)
        found = compares(s->code - VP_TX_BELOW, is_float, left, right);
    else if (s->code == VP_TX_AND || s->code == VP_TX_OR)
        found = s->code == VP_TX_AND ? left != 0 && right != 0 : left != 0 || right != 0;
    else if (s->code == VP_TX_NOT)
        found = left == 0;
    else if (s->code == VP_TX_TO_FLOAT)
        found = bits_of((double)left);
    else if (!outcome(s->code, is_float, left, right, &found))
        return VP_TX_OVERFLOW;
    *into = found;
    so_far->written++;
    return VP_TX_DONE;
}

static inline bool writes(uint8_t code)
{
    switch (code) {
    case VP_TX_SET: case VP_TX_ADD: case VP_TX_SUBTRACT: case VP_TX_MIN: case VP_TX_MAX: case VP_TX_PUT:
    case VP_TX_DELETE: case VP_TX_REQUIRE: case VP_TX_REQUIRE_BELOW: case VP_TX_REQUIRE_AT_MOST:
    case VP_TX_REQUIRE_EQUAL: case VP_TX_REQUIRE_UNEQUAL:
        return false;
    }
    return true;
}

static inline result model_program(model *on, const vp_tx_instruction *steps, uint32_t count)
{
    model before = *on;
    result found = {.status = VP_TX_DONE};
    for (uint32_t i = 0; i < count; i++) {
        int64_t skip = 0;
        uint32_t status = model_step(on, &steps[i], &found, &skip);
        if (status != VP_TX_DONE) {
            *on = before;
            found.status = status;
            found.at = i;
            return found;
        }
        for (; skip > 0 && i + 1 < count; skip--)
            if (writes(steps[++i].code))
                found.registers[found.written++] = 0;
    }
    return found;
}

/* What a function that is alone does: each row of table 1 has one more than all of them together, or is made; if its
 * first one is odd then, it fails. */
static inline result model_alone(model *on)
{
    model before = *on;
    int64_t sum = 1;
    for (uint32_t i = 0; i < ROWS; i++)
        sum += on->rows[1][i].present ? on->rows[1][i].words[0] % 1000 : 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        clear_row(&on->rows[1][i], 1, (sum + i) % 5 != 0);
        on->rows[1][i].words[0] = on->rows[1][i].present ? sum + i : 0;
    }
    if (sum % 2 == 0)
        return (result){.status = VP_TX_DONE};
    *on = before;
    return (result){.status = VP_TX_FAILED_ALONE};
}

/* -- random programs */

/* Rows are never missing, and numbers seldom too large: transactions abort by conditions only, or hardly ever. */
static bool is_tame;

typedef struct {
    uint64_t *seed;
    uint32_t written;
    bool is_double[MOST_STEPS];
} writing;

static inline int64_t random_number(uint64_t *seed, bool is_float)
{
    int64_t small = (int64_t)random_below(seed, 40) - 10;
    if (is_float)
        return bits_of((double)small / 2);
    return is_tame || random_below(seed, 40) ? small : random_below(seed, 2) ? INT64_MAX - 20 - small : INT64_MIN + 20 + small;
}

/* A register of a form, or -1. */
static inline int32_t random_register(const writing *w, bool is_float)
{
    for (uint32_t tries = 0; w->written && tries < 4; tries++) {
        uint32_t chosen = random_below(w->seed, w->written);
        if (w->is_double[chosen] == is_float)
            return (int32_t)chosen;
    }
    return -1;
}

static inline void random_operand(const writing *w, vp_tx_instruction *s, bool is_float)
{
    int32_t chosen = random_below(w->seed, 2) ? random_register(w, is_float) : -1;
    s->operand = chosen < 0 ? random_number(w->seed, is_float) : chosen;
    s->flags |= (uint8_t)((chosen < 0 ? 0 : VP_TX_REGISTER) | (is_float ? VP_TX_FLOAT : 0));
}

/* A register of 0, which is made of none: what is computed of it is known before anything is read. */
static inline void make_zero(writing *w, vp_tx_instruction *s)
{
    *s = (vp_tx_instruction){.code = VP_TX_UNEQUAL, .flags = VP_TX_REGISTER, .row = w->written, .operand = w->written};
    w->is_double[w->written++] = false;
}

static inline bool random_arithmetic(writing *w, vp_tx_instruction *s)
{
    static const uint8_t codes[] = {
        VP_TX_PLUS, VP_TX_MINUS, VP_TX_TIMES, VP_TX_DIVIDED, VP_TX_LEAST, VP_TX_GREATEST, VP_TX_BELOW, VP_TX_AT_MOST,
        VP_TX_EQUAL, VP_TX_UNEQUAL, VP_TX_AND, VP_TX_OR, VP_TX_NOT, VP_TX_TO_FLOAT, VP_TX_REQUIRE,
        VP_TX_REQUIRE_BELOW, VP_TX_REQUIRE_AT_MOST, VP_TX_REQUIRE_EQUAL, VP_TX_REQUIRE_UNEQUAL,
    };
    s->code = codes[random_below(w->seed, sizeof codes)];
    bool is_number = s->code < VP_TX_AND && s->code != VP_TX_REQUIRE, is_float = is_number && random_below(w->seed, 2);
    int32_t left = random_register(w, is_float);
    if (left < 0 && random_below(w->seed, 4) == 0) {
        make_zero(w, s);
        return true;
    }
    if (left < 0)
        return false;
    s->row = (uint32_t)left;
    random_operand(w, s, is_float);
    if (!(s->flags & VP_TX_REGISTER) && random_below(w->seed, 3) == 0)
        s->flags |= VP_TX_LEFT_IMMEDIATE;
    bool is_result_float = s->code == VP_TX_TO_FLOAT || (is_float && s->code < VP_TX_BELOW);
    if (writes(s->code))
        w->is_double[w->written++] = is_result_float;
    return true;
}

static inline void random_access(writing *w, vp_tx_instruction *s)
{
    static const uint8_t codes[] = {
        VP_TX_READ, VP_TX_READ, VP_TX_READ, VP_TX_SET, VP_TX_SET, VP_TX_ADD, VP_TX_ADD, VP_TX_SUBTRACT, VP_TX_MIN,
        VP_TX_MAX, VP_TX_PUT, VP_TX_PUT_IF_ABSENT, VP_TX_DELETE, VP_TX_EXISTS,
    };
    s->table = (uint8_t)PROGRAMMED[random_below(w->seed, sizeof PROGRAMMED / sizeof *PROGRAMMED)];
    if (is_tame && !HAS_DEFAULTS[s->table])
        s->table = random_below(w->seed, 3) ? 2 : 7;
    s->row = random_below(w->seed, ROWS);
    s->column = (uint8_t)random_below(w->seed, columns_of(s->table));
    s->code = codes[random_below(w->seed, sizeof codes)];
    form of = FORMS[s->table][s->column];
    if (is_set(of) && s->code != VP_TX_READ) {
        s->code = (uint8_t)(VP_TX_SET_ADD + random_below(w->seed, 3));
        s->operand = s->row * ELEMENTS + random_below(w->seed, ELEMENTS);
    } else if (s->code == VP_TX_PUT_IF_ABSENT) {
        s->operand = random_below(w->seed, 3);
    } else {
        random_operand(w, s, of == DOUBLE);
        if (s->code == VP_TX_READ)
            s->flags |= random_below(w->seed, 3) ? VP_TX_DEFAULT : 0;
    }
    if (writes(s->code))
        w->is_double[w->written++] = s->code == VP_TX_READ && of == DOUBLE;
}

#endif
