s/memory_order_release(, memory_order_relaxed\)\) \/\* L0 -> L0)/memory_order_relaxed\1/
