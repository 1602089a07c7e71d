/* Which nodes live, and which may be used again. */
#ifndef SCALEGATE_POOL_H
#define SCALEGATE_POOL_H

#include "layout.h"

/* While a source is inside, no node is used again that lives when it looks. */
void sl_pool_enter(sl_source *own);
void sl_pool_leave(sl_source *own);

/* Whether some reader has yet to pass the node; only between enter and leave. */
bool sl_pool_lives(const sl_gate *gate, sl_reference reference);

/* Whether the source has that many free nodes; collects some if not. */
bool sl_pool_has_room(sl_gate *gate, uint32_t source, uint64_t nodes);

/* The index of a free node; `next` counts from the one that is taken first. */
uint32_t sl_pool_peek(const sl_gate *gate, uint32_t source, uint32_t next);

/* Takes the first free node; a rest does not lie before all that the source takes later. */
sl_reference sl_pool_take(sl_gate *gate, uint32_t source, bool is_rest);

/* Makes all nodes of a source free. */
void sl_pool_format(sl_gate *gate, uint32_t source);

#endif
