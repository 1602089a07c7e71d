#include "viper/partition.h"

#include <string.h>

#include "field.h"
#include "order.h"
#include "positions.h"

/* -- one partition */

static int64_t head(const vp_partition *partition)
{
    return partition->times[partition->next];
}

static vp_clock at(vp_clock clock, int64_t ts)
{
    clock.ordinal = ts == clock.ts ? clock.ordinal + 1 : 1;
    clock.ts = ts;
    return clock;
}

static vp_position placed(const vp_field *field, vp_clock *clock)
{
    int64_t saturated = 0;
    vp_position place = vp_field_place(field, (vp_position){clock->ts, 0, 0, 0}, clock->ordinal, &saturated);
    clock->overflowed += (uint64_t)saturated;
    return place;
}

vp_position vp_partition_floor(const vp_partition *partition)
{
    bool has_rows = partition->next < partition->count;
    if (!has_rows && !partition->clock.ordinal)
        return VP_LEAST;
    vp_clock next = at(partition->clock, has_rows ? head(partition) : partition->clock.ts);
    const vp_field field = vp_field_of(partition->level);
    return placed(&field, &next);
}

/* Whether the next row has no room for its place: it stands behind all of its time that have. */
static bool saturates(const vp_partition *partition)
{
    return at(partition->clock, head(partition)).ordinal >= vp_field_of(partition->level).reserved;
}

uint64_t vp_partition_skip(vp_partition *partition, vp_position floor)
{
    uint64_t first = partition->next;
    while (partition->next < partition->count && vp_compare(vp_partition_floor(partition), floor) < 0)
        partition->clock = at(partition->clock, head(partition)), partition->next++;
    return partition->next - first;
}

uint64_t vp_partition_skip_behind(vp_partition *partition, int64_t ts, uint64_t ordinal)
{
    uint64_t first = partition->next;
    while (partition->next < partition->count) {
        vp_clock next = at(partition->clock, head(partition));
        if (next.ts > ts || (next.ts == ts && next.ordinal > ordinal))
            break;
        partition->clock = next;
        partition->next++;
    }
    return partition->next - first;
}

/* -- several: a heap of their indexes, the one with the earliest head on top */

typedef struct {
    vp_partition *const *partitions;
    uint16_t *indexes;
    uint32_t count;
} vp_front;

static bool before(const vp_front *heap, uint16_t a, uint16_t b)
{
    int64_t ours = head(heap->partitions[a]), theirs = head(heap->partitions[b]);
    if (ours != theirs)
        return ours < theirs;
    bool last = saturates(heap->partitions[a]), other_last = saturates(heap->partitions[b]);
    return last == other_last ? a < b : other_last;
}

static void sift_down(vp_front *heap, uint32_t place)
{
    for (uint32_t child; (child = 2 * place + 1) < heap->count; place = child) {
        child += child + 1 < heap->count && before(heap, heap->indexes[child + 1], heap->indexes[child]);
        if (!before(heap, heap->indexes[child], heap->indexes[place]))
            return;
        uint16_t moved = heap->indexes[place];
        heap->indexes[place] = heap->indexes[child];
        heap->indexes[child] = moved;
    }
}

static bool heads_all(const vp_front *heap, uint16_t index)
{
    for (uint32_t child = 1; child <= 2 && child < heap->count; child++)
        if (before(heap, heap->indexes[child], index))
            return false;
    return true;
}

/* Places rows of a partition that is alone, as long as each is the first of its time; how many. But for the time their
 * positions are the same. */
static uint64_t place_rising(vp_positions *out, vp_partition *partition, vp_position first, int64_t until, uint64_t most)
{
    const int64_t *times = partition->times + partition->next;
    vp_position *places = out->data + out->length;
    uint64_t left = partition->count - partition->next, room = most < left ? most : left, count = 0;
    for (first.ts = partition->clock.ts; count < room && times[count] > first.ts && times[count] <= until; count++) {
        first.ts = times[count];
        places[count] = first;
    }
    if (count) {
        partition->clock = at(partition->clock, first.ts);
        partition->next += count;
        out->length += count;
    }
    return count;
}

/* Places the rows of the only partition, up to one that is not the first of its time. */
static uint64_t place_alone(vp_positions *out, vp_partition *partition, int64_t until, uint64_t most, uint16_t *chosen)
{
    const vp_field field = vp_field_of(partition->level);
    int64_t saturated = 0;
    vp_position first = vp_field_place(&field, (vp_position){0, 0, 0, 0}, 1, &saturated);
    uint64_t count = saturated ? 0 : place_rising(out, partition, first, until, most);
    memset(chosen, 0, count * sizeof *chosen);
    return count;
}

/* Places the rows of the first partition up to where another one's turn is; whether to go on. */
static bool place_run(vp_positions *out, vp_front *heap, int64_t until, uint64_t limit, uint16_t *chosen, uint64_t *count)
{
    uint16_t index = heap->indexes[0];
    vp_partition *partition = heap->partitions[index];
    const vp_field field = vp_field_of(partition->level);
    do {
        int64_t ts = head(partition);
        if (*count == limit || ts > until || ts < partition->clock.ts)
            return false;
        partition->clock = at(partition->clock, ts);
        out->data[out->length++] = placed(&field, &partition->clock);
        chosen[(*count)++] = index;
        if (++partition->next == partition->count)
            return false;
        if (heap->count == 1)
            *count += place_alone(out, partition, until, limit - *count, chosen + *count);
        if (partition->next == partition->count)
            return false;
    } while (heads_all(heap, index));
    return true;
}

int64_t vp_partitions_merge(vp_positions *out, vp_partition *const *partitions, uint32_t partition_count,
                            int64_t until, uint64_t limit, uint16_t *chosen)
{
    uint16_t indexes[VP_MOST_PARTITIONS];
    vp_front heap = {partitions, indexes, partition_count};
    uint64_t count = 0;
    if (vp_positions_reserve(out, limit))
        return VP_NO_MEMORY;
    for (uint32_t i = 0; i < partition_count; i++)
        indexes[i] = (uint16_t)i;
    for (uint32_t place = partition_count / 2; place-- > 0;)
        sift_down(&heap, place);
    while (partition_count && place_run(out, &heap, until, limit, chosen, &count))
        sift_down(&heap, 0);
    return (int64_t)count;
}
