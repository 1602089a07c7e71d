/* A planted weakening: what a source includes behind this is ordered by nothing, up to stronger.h. */
#define memory_order_acquire memory_order_relaxed
#define memory_order_release memory_order_relaxed
#define memory_order_seq_cst memory_order_relaxed
