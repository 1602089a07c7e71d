s/memory_order_release(\); \/\* C0)/memory_order_relaxed\1/
