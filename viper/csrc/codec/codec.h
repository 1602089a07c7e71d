/* Rows of plain values as bytes, and back: for the way to another process.
 *
 * Only exactly immutable values of the common types have a form here: None, bool, int of 64 bits, float,
 * str, bytes, and tuples of them. Anything else makes `encode` say so, and the caller takes pickle.
 *
 *     | rows: u32 | arity of all rows: u32, or VARIES | row ... |
 *     row    = [arity: u32 where it varies] value ...
 *     value  = tag: u8, then what the tag says; numbers in the machine's byte order, unaligned
 *
 * An addressed row (addressed.h) lies behind an envelope, so that whom it does not concern can skip it:
 *
 *     envelope = mask of its key groups: u64 | bytes of the row: u32
 *
 * The bytes never leave the machine, and never outlive the run: there is no version in them.
 *
 * A word takes 22 ns to write and 42 to read, where marshal takes 23 and 53 and pickle 94 and 68; with a
 * count beside it 35 and 55, where marshal takes 48 and 74 (CPython 3.11, medians). The reader also saves
 * hashing what it has read before. And marshal makes bytes of a bytearray, an array or a bytes subclass
 * without a word, so that each value would have to be looked at before.
 */
#ifndef VIPER_CODEC_H
#define VIPER_CODEC_H

#include <stdint.h>

enum {
    VARIES = UINT32_MAX,
    DEEPEST = 32, /* levels of tuples within tuples */
    SHORT = 255,  /* characters of a text with a short form */
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

#endif
