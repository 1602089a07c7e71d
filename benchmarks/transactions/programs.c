#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "draw.h"

uint32_t transactions_of_event(load_kind kind)
{
    return kind == TOLL ? 3 : 1;
}

uint64_t program_bytes_most(const load_shape *shape)
{
    uint64_t fixed = 14 * sizeof(vp_tx_instruction) + 6 * sizeof(int64_t);
    uint64_t of_accesses = shape->accesses * (sizeof(vp_tx_instruction) + sizeof(int64_t)) + 8;
    return of_accesses > fixed ? of_accesses : fixed;
}

static bool has_register(uint8_t code)
{
    return code == VP_TX_READ || code == VP_TX_SET_ADD || code >= VP_TX_PLUS;
}

static vp_tx_instruction *step(program *of, uint8_t code, uint8_t flags, uint8_t table, uint32_t row, int64_t operand)
{
    if (of->count == MOST_STEPS)
        abort();
    of->steps[of->count] = (vp_tx_instruction){code, flags, table, 0, row, operand};
    of->registers += has_register(code);
    return &of->steps[of->count++];
}

static int64_t word_of(double number)
{
    int64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

static void grep_and_sum(const load *of, uint64_t *seed, program *into)
{
    uint32_t rows[MOST_ACCESSES];
    bool is_read = random_share(seed) < of->shape.reads;
    draw_rows(of, seed, rows, of->shape.accesses);
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
    draw_pairs(of, seed, accounts, assets, is_transfer ? 2 : 1);
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

enum { PRICE, QUANTITY }; /* columns of items */

static void bid(const load *of, uint64_t *seed, program *into)
{
    uint32_t row;
    int64_t price = random_below(seed, 100), quantity = 1 + random_below(seed, 20);
    draw_rows(of, seed, &row, 1);
    step(into, VP_TX_READ, 0, 0, row, 0)->column = PRICE;
    step(into, VP_TX_READ, 0, 0, row, 0)->column = QUANTITY;
    step(into, VP_TX_REQUIRE_AT_MOST, 0, 0, PRICE, price);
    step(into, VP_TX_REQUIRE_AT_MOST, VP_TX_LEFT_IMMEDIATE, 0, QUANTITY, quantity);
    step(into, VP_TX_SUBTRACT, 0, 0, row, quantity)->column = QUANTITY;
}

/* Of eight requests six bid, one alters prices, and one tops quantities up. */
static void bidding(const load *of, uint64_t *seed, program *into)
{
    uint32_t kind = random_below(seed, 8), rows[MOST_ACCESSES];
    if (kind < 6) {
        bid(of, seed, into);
        return;
    }
    draw_rows(of, seed, rows, of->shape.accesses);
    for (uint32_t i = 0; i < of->shape.accesses; i++)
        if (kind == 6)
            step(into, VP_TX_SET, 0, 0, rows[i], random_below(seed, 100))->column = PRICE;
        else
            step(into, VP_TX_ADD, 0, 0, rows[i], 1 + random_below(seed, 5))->column = QUANTITY;
}

enum { SPEEDS, VEHICLES }; /* tables */

/* The three transactions of an event draw the same from a seed of its own. */
static void toll(const load *of, uint32_t number, program *into)
{
    uint64_t seed = of->shape.seed * 1000003 + number / 3;
    uint32_t segment = draw_row(of, &seed), vehicle = random_below(&seed, TOLL_VEHICLES);
    double speed = random_below(&seed, 80);
    if (number % 3 == 0) {
        step(into, VP_TX_READ, 0, SPEEDS, segment, 0);
        step(into, VP_TX_PLUS, VP_TX_FLOAT, 0, 0, word_of(speed));
        step(into, VP_TX_DIVIDED, VP_TX_FLOAT, 0, 1, word_of(2.0));
        step(into, VP_TX_SET, VP_TX_REGISTER | VP_TX_FLOAT, SPEEDS, segment, 2);
    } else if (number % 3 == 1) {
        step(into, VP_TX_SET_ADD, 0, VEHICLES, segment, segment * TOLL_VEHICLES + vehicle);
    } else {
        step(into, VP_TX_READ, 0, SPEEDS, segment, 0);
        step(into, VP_TX_READ, 0, VEHICLES, segment, 0);
    }
}

void write_program(const load *of, uint64_t *seed, uint32_t number, program *into)
{
    switch (of->shape.kind) {
    case GREP_AND_SUM:
        grep_and_sum(of, seed, into);
        break;
    case BIDDING:
        bidding(of, seed, into);
        break;
    case TOLL:
        toll(of, number, into);
        break;
    default:
        ledger(of, seed, into);
    }
}
