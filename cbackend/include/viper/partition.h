/* A source of several partitions, each in the order of time, put into one order by one task.
 *
 * Which partition a tuple belongs to is part of its position, so that the order is the same whether
 * one task brings all partitions or each has a task of its own.
 */
#ifndef VIPER_PARTITION_H
#define VIPER_PARTITION_H

#include "viper/position.h"

/* The most partitions that one task can merge. */
#define VP_MOST_PARTITIONS 4096

/* One partition, and the rows of it that are at hand: [next, count) of them are still to be placed. */
typedef struct {
    const int64_t *times;
    uint64_t next, count;
    vp_clock clock; /* what the partition remembers of the rows before */
    vp_level level;
} vp_partition;

/* The least position that a further row can get: that of the next one where there is one. */
vp_position vp_partition_floor(const vp_partition *partition);

/* Leaves out the rows below a position; returns how many of those at hand. */
uint64_t vp_partition_skip(vp_partition *partition, vp_position floor);

/* Leaves out the rows before a time, and so many of that time; returns how many of those at hand. */
uint64_t vp_partition_skip_behind(vp_partition *partition, int64_t ts, uint64_t ordinal);

/* Appends the positions of rows of several partitions, in order, and notes in `chosen` which partition each
 * is of. Rows with equal times go by the index of their partition, which must ascend with the partitions' tags;
 * those that saturate come last.
 * Every partition must have rows at hand. Ends when one has none left, as nobody knows what it brings next;
 * with the last row that is not later than `until`; after `limit` rows; or before a row that is earlier than
 * the one before it in its partition. Returns how many there were, or VP_NO_MEMORY. */
int64_t vp_partitions_merge(vp_positions *out, vp_partition *const *partitions, uint32_t partition_count,
                            int64_t until, uint64_t limit, uint16_t *chosen);

#endif
