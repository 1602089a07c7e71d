s/memory_order_seq_cst); \/\* L1 -> L0, W1/memory_order_relaxed); \/*/
