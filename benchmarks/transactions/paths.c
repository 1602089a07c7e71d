#include "paths.h"

#include <stdlib.h>
#include <string.h>

/* How many stand in the longest path up to something; 0: nothing does. */
typedef uint32_t depth;

/* Of a row or of a transaction: up to its last write, and up to the deepest read since. */
typedef struct {
    depth written, read;
} reached;

typedef struct {
    const load *of;
    reached *transactions, *operations; /* by row, of all tables one behind the other */
    uint64_t first[MOST_TABLES + 1];
    load_paths *into;
    depth deepest_transaction, deepest_operation; /* of the batch */
} search;

static depth deeper(depth a, depth b)
{
    return a > b ? a : b;
}

static bool is_access(uint8_t code)
{
    return code <= VP_TX_EXISTS;
}

static bool is_read(uint8_t code)
{
    return code == VP_TX_READ || code == VP_TX_SET_HAS || code == VP_TX_EXISTS;
}

static bool has_register(uint8_t code)
{
    return code == VP_TX_READ || code == VP_TX_SET_ADD || code >= VP_TX_PLUS;
}

static bool needs_register(const vp_tx_instruction *step)
{
    bool is_element = step->code >= VP_TX_SET_ADD && step->code <= VP_TX_SET_HAS;
    return (step->flags & VP_TX_REGISTER) && !is_element;
}

static depth behind(const reached *row, uint8_t code)
{
    return is_read(code) ? row->written : deeper(row->written, row->read);
}

static void reach(reached *row, uint8_t code, depth found)
{
    if (is_read(code))
        row->read = deeper(row->read, found);
    else
        *row = (reached){found, found};
}

static uint64_t place(const search *in, const vp_tx_instruction *step)
{
    return in->first[step->table] + step->row;
}

static void transaction_path(search *in, vp_tx *tx)
{
    const vp_tx_instruction *steps = vp_tx_program(tx);
    depth found = 0;
    for (uint32_t i = 0; i < tx->program; i++)
        if (is_access(steps[i].code))
            found = deeper(found, behind(&in->transactions[place(in, &steps[i])], steps[i].code));
    found++;
    for (uint32_t i = 0; i < tx->program; i++)
        if (is_access(steps[i].code))
            reach(&in->transactions[place(in, &steps[i])], steps[i].code, found);
    in->deepest_transaction = deeper(in->deepest_transaction, found);
}

/* An operation waits for those on its row, for what its operand is made of, and for the conditions before it. */
static void operations_path(search *in, vp_tx *tx)
{
    const vp_tx_instruction *steps = vp_tx_program(tx);
    depth registers[UINT8_MAX] = {0}, condition = 0;
    uint32_t made = 0;
    for (uint32_t i = 0; i < tx->program; i++) {
        const vp_tx_instruction *step = &steps[i];
        depth found = needs_register(step) ? deeper(condition, registers[step->operand]) : condition;
        if (is_access(step->code)) {
            reached *row = &in->operations[place(in, step)];
            found = 1 + deeper(found, behind(row, step->code));
            reach(row, step->code, found);
            in->into->operations++;
        } else {
            found = deeper(found, registers[step->row]);
        }
        if (has_register(step->code))
            registers[made++] = found;
        else if (!is_access(step->code))
            condition = found;
        in->deepest_operation = deeper(in->deepest_operation, found);
    }
}

static void end_batch(search *in)
{
    in->into->batches++;
    in->into->transactions_path += in->deepest_transaction;
    in->into->operations_path += in->deepest_operation;
    in->deepest_transaction = in->deepest_operation = 0;
    memset(in->transactions, 0, in->first[in->of->tables_count] * sizeof *in->transactions);
    memset(in->operations, 0, in->first[in->of->tables_count] * sizeof *in->operations);
}

/* The log whose transaction is next, as components of a load are in the order of its logs; the number of logs at the end. */
static uint32_t next_log(const load *of, uint64_t *at)
{
    uint32_t found = of->shape.logs;
    int64_t least = INT64_MAX;
    for (uint32_t log = 0; log < of->shape.logs; log++) {
        if (at[log] >= vp_txlog_tail(of->logs[log]))
            continue;
        const vp_tx *tx = vp_txlog_tx(of->logs[log], &at[log]);
        uint32_t component = of->logs[log]->component, other = found < of->shape.logs ? of->logs[found]->component : 0;
        if (found == of->shape.logs || tx->ts < least || (tx->ts == least && component < other)) {
            least = tx->ts;
            found = log;
        }
    }
    return found;
}

static void measure(search *in, uint32_t batch)
{
    uint64_t at[MOST_LOGS] = {0};
    uint32_t log;
    while ((log = next_log(in->of, at)) < in->of->shape.logs) {
        vp_tx *tx = vp_txlog_tx(in->of->logs[log], &at[log]);
        transaction_path(in, tx);
        operations_path(in, tx);
        at[log] += tx->size;
        if (++in->into->transactions % batch == 0)
            end_batch(in);
    }
    if (in->deepest_transaction)
        end_batch(in);
}

bool load_measure_paths(const load *of, uint32_t batch, load_paths *into)
{
    search in = {.of = of, .into = into};
    *into = (load_paths){0};
    for (uint32_t i = 0; i < of->tables_count; i++)
        in.first[i + 1] = in.first[i] + vp_shared_capacity(of->tables[i]);
    in.transactions = calloc(in.first[of->tables_count], sizeof *in.transactions);
    in.operations = calloc(in.first[of->tables_count], sizeof *in.operations);
    bool is_done = in.transactions && in.operations;
    if (is_done)
        measure(&in, batch);
    free(in.transactions);
    free(in.operations);
    return is_done;
}
