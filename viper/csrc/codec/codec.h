/* Rows of plain values as bytes, and back: for the way to another process.
 *
 * Only exactly immutable values of the common types have a form here: None, bool, int of 64 bits, float,
 * str, bytes, and tuples of them. Anything else makes `encode` say so, and the caller takes pickle.
 *
 *     | rows: u32 | arity of all rows: u32 | block ... |
 *     | rows: u32 | VARIES: u32            | row ... |
 *     block  = form of each column: u8, column ...
 *     row    = arity: u32, value ...
 *     value  = tag: u8, then what the tag says; numbers in the machine's byte order, unaligned
 *
 * Most rows have values of one type in each column, so that the type is said once, and what takes each value is one
 * loop. Each block but the last has AT_ONCE rows. A form is a kind, with a width and with WITH_NONE, which says that
 * values may be None:
 *
 *     column = [is there: u8 of each row, where it may be None] what the kind says; for None there are zeroes
 *
 * An addressed row (addressed.h) lies behind an envelope, so that whom it does not concern can skip it. Such rows are
 * never in columns; their arity stands in the head where it is common:
 *
 *     envelope = mask of its key groups: u64 | bytes of the row: u32
 *
 * The bytes never leave the machine, and never outlive the run: there is no version in them. The same values have the
 * same bytes, whatever was encoded before: what a successor emits again is compared so. For that reason, and as a
 * reader may begin anywhere in a channel, they refer to nothing outside of themselves (memory.h).
 */
#ifndef VIPER_CODEC_H
#define VIPER_CODEC_H

#include <stdint.h>

enum {
    AT_ONCE = 128, /* rows of a block: they and their values lie in the first caches */
    VARIES = UINT32_MAX,
    DEEPEST = 32, /* levels of tuples within tuples */
    SHORT = 255,  /* bytes of a text or of bytes with a short form */
    ENVELOPE = 12, /* bytes before an addressed row */
};

enum {
    TAG_NONE,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INT8,
    TAG_INT32,
    TAG_INT64,
    TAG_FLOAT,
    TAG_ASCII, /* u8 length */
    TAG_TEXT,  /* u8 bytes per character, u64 characters */
    TAG_BYTES, /* u64 length */
    TAG_TUPLE, /* u32 arity, values */
};

/* Kinds of columns. Lengths are in bytes. */
enum {
    COLUMN_NONE,  /* nothing but None */
    COLUMN_BOOL,  /* u8 each */
    COLUMN_INT,   /* int of the form's width each */
    COLUMN_FLOAT, /* double each */
    COLUMN_ASCII, /* length of each, in the form's width; the characters of all */
    COLUMN_TEXT,  /* the same, and before it u8 bytes per character of each, 0 where all are ASCII */
    COLUMN_BYTES, /* as ASCII */
    COLUMN_VALUES, /* u64 bytes of them all; values with their tags, of any types */
    KIND = 15,
    WIDTH_4 = 1 << 4, /* else 1 */
    WIDTH_8 = 2 << 4,
    WIDTH = 3 << 4,
    WITH_NONE = 1 << 7,
};

#endif
