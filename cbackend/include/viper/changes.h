/* What has changed in a table of keyed state since its last checkpoint, so that the next one writes no more than that.
 *
 * A bit for each row says whether it has changed since the last cut, and another one whether it had changed at that
 * cut: of these, nobody knows whether they are in a checkpoint as long as it is being written. Both lie beside the
 * table, so that a task's successor knows them. A bit is set before its row changes, and stays when the slice goes back:
 * then the row is written once more than it need be.
 *
 * Rows are known by their numbers. When a table is compacted they get others, so it begins another generation, which a
 * checkpoint has as a whole or not at all.
 */
#ifndef VIPER_CHANGES_H
#define VIPER_CHANGES_H

#include "viper/keyed.h"

typedef struct vp_changes vp_changes;

/* Bytes of its fixed part. */
uint64_t vp_changes_size(void);

/* Makes one, without changes, out of the zeroed region at an offset in an arena, which is that of a line. */
vp_changes *vp_changes_format(void *arena, uint64_t offset);

#endif
