#include "viper/position.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "positions.h"

enum { SMALLEST_CAPACITY = 16 };

vp_positions *vp_positions_new(void)
{
    return calloc(1, sizeof(vp_positions));
}

void vp_positions_free(vp_positions *positions)
{
    free(positions->data);
    free(positions);
}

int vp_positions_reserve(vp_positions *positions, uint64_t more)
{
    if (more <= positions->capacity - positions->length)
        return 0;
    if (more > SIZE_MAX / sizeof(vp_position) / 2 - positions->length)
        return VP_NO_MEMORY;
    /* Doubling keeps the cost per position constant. */
    uint64_t capacity = positions->capacity ? positions->capacity : SMALLEST_CAPACITY;
    while (capacity < positions->length + more)
        capacity *= 2;
    vp_position *data = realloc(positions->data, capacity * sizeof *data);
    if (!data)
        return VP_NO_MEMORY;
    positions->data = data;
    positions->capacity = capacity;
    return 0;
}

int vp_positions_append(vp_positions *out, vp_position position)
{
    if (vp_positions_reserve(out, 1))
        return VP_NO_MEMORY;
    out->data[out->length++] = position;
    return 0;
}

int vp_positions_extend(vp_positions *out, const vp_positions *from, uint64_t first, uint64_t count)
{
    if (count == 0)
        return 0;
    if (vp_positions_reserve(out, count))
        return VP_NO_MEMORY;
    memcpy(out->data + out->length, from->data + first, count * sizeof *from->data);
    out->length += count;
    return 0;
}

int64_t vp_positions_children(vp_positions *out, const vp_positions *parents, uint64_t first, uint64_t count,
                              const uint32_t *ends, uint64_t first_ordinal, vp_level level)
{
    if (count == 0)
        return 0;
    if (vp_positions_reserve(out, ends[count - 1]))
        return VP_NO_MEMORY;
    const vp_field field = vp_field_of(level);
    const vp_position *parent = parents->data + first;
    vp_position *children = out->data + out->length;
    uint64_t ordinal = first_ordinal;
    int64_t saturated = 0;
    uint32_t output = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (ends[i] < output || ends[i] > ends[count - 1])
            return VP_ENDS_DESCEND;
        /* Equal parents happen: what a timer or a thread emits takes the position its task has come to. */
        if (i > 0 && !vp_field_same_above(&field, parent[i], parent[i - 1]))
            ordinal = 0;
        for (; output < ends[i]; output++) {
            ordinal += ordinal < UINT64_MAX; /* which no level has room for: it must not begin anew */
            children[output] = vp_field_place(&field, parent[i], ordinal, &saturated);
        }
    }
    out->length += output;
    return saturated;
}

int64_t vp_positions_logical(vp_positions *out, int64_t first_ts, uint64_t count, vp_level level)
{
    if (vp_positions_reserve(out, count))
        return VP_NO_MEMORY;
    const vp_field field = vp_field_of(level);
    int64_t saturated = 0;
    vp_position place = vp_field_place(&field, (vp_position){0, 0, 0, 0}, 1, &saturated);
    for (uint64_t i = 0; i < count; i++) {
        place.ts = first_ts + (int64_t)i;
        out->data[out->length++] = place;
    }
    return saturated ? (int64_t)count : 0;
}

int64_t vp_positions_timed(vp_positions *out, const int64_t *ts, uint64_t count, vp_clock *clock, vp_level level)
{
    if (vp_positions_reserve(out, count))
        return VP_NO_MEMORY;
    const vp_field field = vp_field_of(level);
    int64_t saturated = 0;
    uint64_t placed = 0;
    for (; placed < count && ts[placed] >= clock->ts; placed++) {
        clock->ordinal = ts[placed] == clock->ts ? clock->ordinal + 1 : 1;
        clock->ts = ts[placed];
        vp_position root = {clock->ts, 0, 0, 0};
        out->data[out->length++] = vp_field_place(&field, root, clock->ordinal, &saturated);
    }
    clock->overflowed += (uint64_t)saturated;
    return (int64_t)placed;
}

int vp_positions_scatter(const vp_positions *from, const uint16_t *targets, vp_positions *const *outs,
                         uint32_t out_count)
{
    for (uint64_t i = 0, length = from->length; i < length; i++)
        if (targets[i] < out_count && vp_positions_append(outs[targets[i]], from->data[i]))
            return VP_NO_MEMORY;
    return 0;
}

void vp_positions_pack(const vp_positions *positions, uint8_t *into)
{
    enum { PACKED = offsetof(vp_position, tree) };
    for (uint64_t i = 0; i < positions->length; i++)
        memcpy(into + i * PACKED, &positions->data[i], PACKED);
}

void vp_positions_trees(const vp_positions *positions, uint64_t first, uint64_t count, uint64_t *into)
{
    for (uint64_t i = 0; i < count; i++)
        into[i] = positions->data[first + i].tree;
}

bool vp_positions_set_trees(vp_positions *positions, const uint32_t *indexes, const uint64_t *trees, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (indexes[i] >= positions->length)
            return false;
        positions->data[indexes[i]].tree = trees[i];
    }
    return true;
}

bool vp_positions_tracked(const vp_positions *positions, uint64_t first)
{
    for (uint64_t i = first; i < positions->length; i++)
        if (positions->data[i].tree)
            return true;
    return false;
}

void vp_positions_forget_trees(vp_positions *positions, uint64_t first)
{
    for (uint64_t i = first; i < positions->length; i++)
        positions->data[i].tree = 0;
}
