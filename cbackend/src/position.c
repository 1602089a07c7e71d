#include "viper/position.h"

#include <stddef.h>
#include <string.h>

#include "field.h"
#include "line.h"
#include "positions.h"

int64_t vp_positions_logical(vp_positions *out, int64_t first_ts, uint64_t count, vp_level level)
{
    const vp_field field = vp_field_of(level);
    int64_t saturated = 0;
    vp_position place = vp_field_place(&field, (vp_position){0, 0, 0, 0}, 1, &saturated);
    if (!saturated && !out->length && count >= VP_LEAST_ON_LINE) {
        place.ts = first_ts;
        const vp_places places = {.line = {place, {.ts = 1}, {.ts = 0}}};
        return vp_positions_extend_on(out, &places, count);
    }
    if (vp_positions_reserve(out, count))
        return VP_NO_MEMORY;
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

int64_t vp_positions_number(vp_positions *positions, const uint64_t *distances, vp_level level)
{
    if (!positions->length)
        return 0;
    if (vp_positions_apart(positions))
        return VP_NO_MEMORY;
    const vp_field field = vp_field_of(level);
    if (field.reserved < 2) /* there is one ordinal at most */
        return 0;
    const uint64_t last = field.reserved - 1;
    const vp_path ordinals = vp_path_of(field.reserved, level.offset);
    int64_t too_far = 0;
    for (uint64_t i = 0; i < positions->length; i++) {
        vp_position *position = &positions->data[i];
        if (vp_field_is_saturated(&field, *position))
            continue;
        const bool fits = distances[i] < last;
        const vp_path ordinal = vp_path_of(fits ? last - distances[i] : 1, level.offset);
        position->hi = (position->hi & ~ordinals.hi) | ordinal.hi;
        position->lo = (position->lo & ~ordinals.lo) | ordinal.lo;
        too_far += !fits;
    }
    return too_far;
}

/* Goes along positions, wherever they are; no further than to the last one. */
typedef struct {
    const vp_positions *positions;
    uint64_t index;
    vp_walk walk;
} reading;

static reading read_from_start(const vp_positions *positions)
{
    reading from = {.positions = positions};
    if (vp_positions_on_line(positions))
        from.walk = vp_walk_from(&positions->places, positions->length, 0);
    return from;
}

static vp_position read_next(reading *from)
{
    const vp_positions *positions = from->positions;
    uint64_t index = from->index++;
    if (!positions->is_line)
        return positions->data[index];
    if (index > 0)
        vp_walk_on(&from->walk);
    return vp_walk_place(&from->walk);
}

int vp_positions_scatter(const vp_positions *positions, const uint16_t *targets, vp_positions *const *outs,
                         uint32_t out_count)
{
    reading from = read_from_start(positions);
    for (uint64_t i = 0, length = positions->length; i < length; i++) {
        const vp_position position = read_next(&from);
        if (targets[i] < out_count && vp_positions_append(outs[targets[i]], position))
            return VP_NO_MEMORY;
    }
    return 0;
}

void vp_positions_pack(const vp_positions *positions, uint8_t *into)
{
    enum { PACKED = offsetof(vp_position, tree) };
    reading from = read_from_start(positions);
    for (uint64_t i = 0; i < positions->length; i++) {
        const vp_position position = read_next(&from);
        memcpy(into + i * PACKED, &position, PACKED);
    }
}

void vp_positions_trees(const vp_positions *positions, uint64_t first, uint64_t count, uint64_t *into)
{
    for (uint64_t i = 0; i < count; i++)
        into[i] = positions->is_line ? 0 : positions->data[first + i].tree;
}

int vp_positions_set_trees(vp_positions *positions, const uint32_t *indexes, const uint64_t *trees, uint64_t count)
{
    if (count && vp_positions_apart(positions))
        return VP_NO_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        if (indexes[i] >= positions->length)
            return VP_OUT_OF_RANGE;
        positions->data[indexes[i]].tree = trees[i];
    }
    return 0;
}

uint64_t vp_positions_untracked(const vp_positions *positions, uint64_t first, uint64_t count)
{
    if (vp_positions_on_line(positions))
        return count;
    uint64_t untracked = 0;
    for (uint64_t i = first; i < first + count; i++)
        untracked += positions->data[i].tree == 0;
    return untracked;
}

bool vp_positions_tracked(const vp_positions *positions, uint64_t first)
{
    if (vp_positions_on_line(positions))
        return false;
    for (uint64_t i = first; i < positions->length; i++)
        if (positions->data[i].tree)
            return true;
    return false;
}
