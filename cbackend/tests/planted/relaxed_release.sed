s/memory_order_seq_cst\(.*R1 -> A1\)/memory_order_relaxed\1/
