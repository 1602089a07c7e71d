#include "viper/position.h"

#include <stddef.h>
#include <string.h>

#include "field.h"
#include "line.h"
#include "positions.h"

/* Whether positions on a line have distinct paths above a level and nothing at it or below, so that outputs of theirs
 * lie on a line as well. */
static bool leaves_room(const vp_line *line, const vp_field *field)
{
    const vp_position *step = &line->step, *origin = &line->origin;
    bool differ = step->ts || step->hi & field->above.hi || step->lo & field->above.lo;
    uint64_t below_hi = (step->hi | origin->hi) & ~field->above.hi;
    uint64_t below_lo = (step->lo | origin->lo) & ~field->above.lo;
    return differ && !below_hi && !below_lo;
}

/* Notes the numbers of the parents that have an output; how many these are, or UINT64_MAX where one has several. */
static uint64_t note_parents(uint32_t *numbers, const vp_positions *parents, uint64_t first, uint64_t count,
                             const uint32_t *ends)
{
    uint32_t before = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t more = ends[i] - before;
        if (more > 1)
            return UINT64_MAX;
        numbers[before] = (uint32_t)vp_line_number(parents, first + i);
        before = ends[i];
    }
    return before;
}

static int children_on_line(vp_positions *out, const vp_positions *parents, uint64_t first, uint64_t count,
                     const uint32_t *ends, vp_level level)
{
    const vp_field field = vp_field_of(level);
    const vp_line *line = &parents->line;
    uint64_t made = count ? ends[count - 1] : 0;
    int64_t saturated = 0;
    if (made < VP_LEAST_ON_LINE || made > count || !leaves_room(line, &field))
        return 0;
    vp_field_place(&field, vp_line_place(line, vp_line_number(parents, first)), 1, &saturated);
    vp_field_place(&field, vp_line_place(line, vp_line_number(parents, first + count - 1)), 1, &saturated);
    if (saturated)
        return 0;
    if (vp_positions_reserve_numbers(out, count + 1))
        return VP_NO_MEMORY;
    if (note_parents(out->numbers, parents, first, count, ends) != made)
        return 0;
    out->line = (vp_line){vp_field_place(&field, line->origin, 1, &saturated), line->step};
    out->form = VP_NUMBERED;
    if (made == count && parents->form == VP_CONSECUTIVE) {
        out->line.origin = vp_line_place(&out->line, first);
        out->form = VP_CONSECUTIVE;
    }
    out->length = made;
    return 1;
}

/* What there is to say of parents without outputs, whose positions nobody needs. */
static int check_none(const uint32_t *ends, uint64_t count)
{
    uint32_t any = 0;
    for (uint64_t i = 0; i < count; i++)
        any |= ends[i];
    return any ? VP_ENDS_DESCEND : 0;
}

int64_t vp_positions_children(vp_positions *out, vp_positions *parents, uint64_t first, uint64_t count,
                              const uint32_t *ends, uint64_t first_ordinal, vp_level level)
{
    if (count == 0)
        return 0;
    if (ends[count - 1] == 0)
        return check_none(ends, count);
    if (vp_positions_on_line(parents) && !out->length && !first_ordinal) {
        int done = children_on_line(out, parents, first, count, ends, level);
        if (done)
            return done < 0 ? done : 0;
    }
    if (vp_positions_reserve(out, ends[count - 1]) || vp_positions_apart(parents))
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
    const vp_field field = vp_field_of(level);
    int64_t saturated = 0;
    vp_position place = vp_field_place(&field, (vp_position){0, 0, 0, 0}, 1, &saturated);
    if (!saturated && !out->length && count >= VP_LEAST_ON_LINE) {
        place.ts = first_ts;
        const vp_line line = {place, {.ts = 1}};
        return vp_line_extend(out, &line, NULL, 0, count);
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

int vp_positions_scatter(const vp_positions *from, const uint16_t *targets, vp_positions *const *outs,
                         uint32_t out_count)
{
    for (uint64_t i = 0, length = from->length; i < length; i++)
        if (targets[i] < out_count && vp_positions_append(outs[targets[i]], vp_positions_at(from, i)))
            return VP_NO_MEMORY;
    return 0;
}

void vp_positions_pack(const vp_positions *positions, uint8_t *into)
{
    enum { PACKED = offsetof(vp_position, tree) };
    for (uint64_t i = 0; i < positions->length; i++) {
        const vp_position position = vp_positions_at(positions, i);
        memcpy(into + i * PACKED, &position, PACKED);
    }
}

void vp_positions_trees(const vp_positions *positions, uint64_t first, uint64_t count, uint64_t *into)
{
    for (uint64_t i = 0; i < count; i++)
        into[i] = vp_positions_at(positions, first + i).tree;
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

bool vp_positions_tracked(const vp_positions *positions, uint64_t first)
{
    if (vp_positions_on_line(positions))
        return false;
    for (uint64_t i = first; i < positions->length; i++)
        if (positions->data[i].tree)
            return true;
    return false;
}

void vp_positions_forget_trees(vp_positions *positions, uint64_t first)
{
    if (vp_positions_on_line(positions))
        return;
    for (uint64_t i = first; i < positions->length; i++)
        positions->data[i].tree = 0;
}
