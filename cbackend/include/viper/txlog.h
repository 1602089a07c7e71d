/* Logs of transactions: what each task wants of shared tables, in the order of its input.
 *
 * A log is a ring of bytes in shared memory with one writer, its task. The task writes transactions ahead of `tail`, tells
 * them by vp_txlog_publish, and says by vp_txlog_collected below what position it will write no more. Whoever evaluates
 * (txgroup.h) reads from where it was last, writes results into the log, and tells how far it is. The task frees what it
 * needs no more by vp_txlog_release. Counters count bytes over the log's whole life.
 *
 * A transaction is a header, a word for each register, and instructions of 16 bytes. Each READ, PUT_IF_ABSENT, SET_ADD
 * and arithmetic instruction writes the next register, from register 0 on; registers are results as well. Operands are
 * immediate words, or registers where VP_TX_REGISTER says so. If an instruction aborts, the transaction leaves no trace.
 */
#ifndef VIPER_TXLOG_H
#define VIPER_TXLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/position.h"

typedef struct vp_txlog vp_txlog;

typedef struct {
    uint32_t size;          /* bytes of all of it, a multiple of 16 */
    uint16_t kind;          /* VP_TX_PROGRAM and so on */
    uint16_t ordinal;       /* its index in its call, from 0 */
    uint16_t registers;     /* how many */
    uint16_t program;       /* how many instructions */
    uint32_t status;        /* written by evaluation: VP_TX_PENDING, VP_TX_DONE, or why it was aborted */
    uint32_t at;            /* of an aborted one, the index of the instruction */
    uint32_t input;         /* which tuple of the task's it is of; the task's own number, no part of the order */
    int64_t ts;             /* the position of that tuple */
    uint64_t hi, lo;
} vp_tx; /* 48 bytes; behind it int64_t registers[], one more if odd, and vp_tx_instruction program[] */

typedef struct {
    uint8_t code;
    uint8_t flags;
    uint8_t table;   /* its number in the group */
    uint8_t column;
    uint32_t row;    /* of tables: number of the row; of arithmetic: the left register */
    int64_t operand; /* immediate, or the number of a register */
} vp_tx_instruction;

enum {
    VP_TX_PROGRAM = 1,
    VP_TX_ALONE = 2, /* a function of the issuing task's, which no program tells */
    VP_TX_PAD = 3    /* nothing, up to the end of the ring; may be 16 bytes, of which only size and kind are there */
};

/* Statuses. */
enum {
    VP_TX_PENDING = 0,
    VP_TX_DONE = 1,
    VP_TX_FAILED_CONDITION = 2,
    VP_TX_MISSING = 3,  /* a row that is not there, in a table without defaults */
    VP_TX_OVERFLOW = 4, /* an integer beyond 64 bits, or a division by zero */
    VP_TX_FAILED_ALONE = 5
};

/* Flags. */
enum {
    VP_TX_REGISTER = 1, /* the operand is a register */
    VP_TX_FLOAT = 2,    /* words are doubles */
    VP_TX_DEFAULT = 4,  /* READ: the operand is the result where the row is not there */
    VP_TX_LEFT_IMMEDIATE = 8 /* arithmetic: row is a register all the same, and takes the place of the RIGHT operand,
                                while `operand`, immediate, is the left one */
};

/* Codes. Of tables: */
enum {
    VP_TX_READ = 1,       /* register = column */
    VP_TX_SET = 2,        /* column = operand. SET, ADD, SUBTRACT, MIN and MAX abort on a row that is not there, but SET on
                             a table with one column makes it; defaults are written first where the table has some */
    VP_TX_ADD = 3,
    VP_TX_SUBTRACT = 4,
    VP_TX_MIN = 5,
    VP_TX_MAX = 6,
    VP_TX_PUT = 7,        /* the row is present with all columns 0 or its defaults from now on; SETs follow */
    VP_TX_PUT_IF_ABSENT = 8, /* register = 1 and as PUT if it was not there, else register = 0; if 0, the next `operand`
                                instructions are passed over, and registers that they would write are 0 */
    VP_TX_DELETE = 9,     /* the row is not there any more; not an error where it was not */
    VP_TX_SET_ADD = 10,   /* register = whether element row `operand` of table column's elements was new. `column` is the
                             set column; the table of its elements is the one that vp_txgroup knows for (table, column).
                             The operand is never a register; and an element is of one row only */
    VP_TX_SET_DISCARD = 11, /* register = whether it was in the set */
    VP_TX_SET_HAS = 12,   /* register = whether it is */
    VP_TX_EXISTS = 13,    /* register = whether the row is there */
    /* Conditions: */
    VP_TX_REQUIRE = 20,   /* aborts if register `row` is 0 */
    VP_TX_REQUIRE_BELOW = 24, /* these abort where the comparison is 0 that VP_TX_BELOW and so on, with the same operands
                                 and flags, would write; they write no register */
    VP_TX_REQUIRE_AT_MOST = 25,
    VP_TX_REQUIRE_EQUAL = 26,
    VP_TX_REQUIRE_UNEQUAL = 27,
    /* Arithmetic: register = left, operand. Results of comparisons are 0 or 1, as integers */
    VP_TX_PLUS = 32,
    VP_TX_MINUS = 33,
    VP_TX_TIMES = 34,
    VP_TX_DIVIDED = 35,   /* floor division as Python's; of doubles true division */
    VP_TX_LEAST = 36,
    VP_TX_GREATEST = 37,
    VP_TX_BELOW = 40,
    VP_TX_AT_MOST = 41,
    VP_TX_EQUAL = 42,
    VP_TX_UNEQUAL = 43,
    VP_TX_AND = 44,
    VP_TX_OR = 45,
    VP_TX_NOT = 46,       /* of the left one */
    VP_TX_TO_FLOAT = 47   /* of the left one */
};

uint64_t vp_txlog_size(uint64_t bytes); /* of a region for a ring of so many bytes, a power of two from 4096 on */

/* Makes an empty log of the zeroed region at an offset in an arena. component: its task's component in order of definition;
 * task: breaks what ties are left. */
vp_txlog *vp_txlog_format(void *arena, uint64_t offset, uint64_t bytes, uint32_t component, uint32_t task);
vp_txlog *vp_txlog_at(void *arena, uint64_t offset);

/* Contiguous room for `bytes` (a multiple of 16, at most half of the ring) at byte counter *at; skips the ring's end by
 * a pad where needed, and then *at moves. NULL if there is no room before something is released. Nothing is published. */
void *vp_txlog_room(vp_txlog *log, uint64_t *at, uint64_t bytes);
/* The transaction at a byte counter, pads skipped (then *at moves). */
vp_tx *vp_txlog_tx(const vp_txlog *log, uint64_t *at);

/* All transactions up to a byte counter, which is the end of one, are there. */
void vp_txlog_publish(vp_txlog *log, uint64_t tail);
/* Nothing below a position will be published any more; positions never descend, a lower one is ignored. */
void vp_txlog_collected(vp_txlog *log, vp_position position);
vp_position vp_txlog_is_collected(const vp_txlog *log);
void vp_txlog_release(vp_txlog *log, uint64_t head);

uint64_t vp_txlog_tail(const vp_txlog *log);
uint64_t vp_txlog_head(const vp_txlog *log);
/* Up to which byte counter everything has been evaluated, and lasts; the end of a transaction, or 0. */
uint64_t vp_txlog_evaluated(const vp_txlog *log);

#endif
