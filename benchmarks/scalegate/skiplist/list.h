/* The list as sources walk it. */
#ifndef SCALEGATE_LIST_H
#define SCALEGATE_LIST_H

#include "key.h"
#include "layout.h"

/* Between two steps of a source others may take theirs. A test defines it, to take them. */
#ifndef SL_STEP
#define SL_STEP()
#endif

static inline sl_key sl_node_key(const sl_node *node)
{
    return (sl_key){sl_position_at(node->first), node->tie};
}

/* The last node before `key`, and its link as it is then; from the source's finger, which it moves. */
uint32_t sl_list_before(sl_gate *gate, sl_source *own, sl_key key, uint64_t *link);

/* Forgets hints that do not live any more. */
void sl_list_check_hints(sl_gate *gate, sl_source *own);

/* Links a node of level 0 into as many levels above as a coin says. */
void sl_list_raise(sl_gate *gate, sl_source *own, sl_reference node);

#endif
