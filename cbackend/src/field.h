/* One level of a path as bit masks, made once and applied to many positions.
 *
 * Inline, because it is the loop body of everything that makes positions. */
#ifndef VIPER_FIELD_H
#define VIPER_FIELD_H

#include <stdbool.h>

#include "viper/position.h"

typedef struct {
    uint64_t hi, lo;
} vp_path;

typedef struct {
    vp_path above;     /* ones over the levels above this one */
    vp_path tag;       /* this level's tag, in its place */
    uint64_t reserved; /* the smallest ordinal that saturates */
    uint32_t offset;
} vp_field;

/* C leaves a shift by the word's width or more undefined, hence the cases. */
static inline vp_path vp_path_of(uint64_t word, uint32_t by)
{
    if (by >= 128)
        return (vp_path){0, 0};
    if (by >= 64)
        return (vp_path){word << (by - 64), 0};
    if (by > 0)
        return (vp_path){word >> (64 - by), word << by};
    return (vp_path){0, word};
}

/* Ones in all bits from `bit` upwards. */
static inline vp_path vp_path_ones(uint32_t bit)
{
    if (bit >= 128)
        return (vp_path){0, 0};
    if (bit >= 64)
        return (vp_path){UINT64_MAX << (bit - 64), 0};
    return (vp_path){UINT64_MAX, UINT64_MAX << bit};
}

static inline vp_field vp_field_of(vp_level level)
{
    uint32_t tag_offset = level.offset + level.ordinal_bits;
    vp_field field = {
        .above = vp_path_ones(tag_offset + level.tag_bits),
        .tag = vp_path_of(level.tag, tag_offset),
        .reserved = (UINT64_C(1) << level.ordinal_bits) - 1,
        .offset = level.offset,
    };
    if (level.tag >> level.tag_bits)
        field.reserved = 0;
    return field;
}

static inline bool vp_field_is_saturated(const vp_field *field, vp_position position)
{
    return (position.hi | field->above.hi) == UINT64_MAX && (position.lo | field->above.lo) == UINT64_MAX;
}

/* The output of a parent with the given ordinal, from 1, in the parent's tree; counts it where it was saturated. */
static inline vp_position vp_field_place(const vp_field *field, vp_position parent, uint64_t ordinal, int64_t *saturated)
{
    if (ordinal >= field->reserved || vp_field_is_saturated(field, parent)) {
        ++*saturated;
        return (vp_position){parent.ts, parent.hi | ~field->above.hi, parent.lo | ~field->above.lo, parent.tree};
    }
    /* What a parent carries at or below this level is cut off: only a cycle brings such parents. */
    vp_path place = vp_path_of(ordinal, field->offset);
    return (vp_position){
        parent.ts,
        (parent.hi & field->above.hi) | field->tag.hi | place.hi,
        (parent.lo & field->above.lo) | field->tag.lo | place.lo,
        parent.tree,
    };
}

/* Whether two positions agree in ts and in all levels above the field. */
static inline bool vp_field_same_above(const vp_field *field, vp_position a, vp_position b)
{
    return a.ts == b.ts && !((a.hi ^ b.hi) & field->above.hi) && !((a.lo ^ b.lo) & field->above.lo);
}

#endif
