/* How runs of a source enter the list. */
#ifndef SCALEGATE_RUN_H
#define SCALEGATE_RUN_H

#include "key.h"
#include "layout.h"

/* For one run: itself, and the rest of what it cuts. */
enum { SL_NODES_PER_RUN = 2 };

/* Before and after the runs of one jumbo tuple, or a mark. */
void sl_run_begin(sl_gate *gate, uint32_t source);
void sl_run_end(sl_gate *gate, uint32_t source);

/* Enters the run that begins with `key`: up to `most` of the source's tuples, or a mark if that is 0.
 * Returns how many tuples it has. Needs SL_NODES_PER_RUN free nodes. */
uint32_t sl_run_enter(sl_gate *gate, uint32_t source, sl_key key, uint32_t most);

#endif
