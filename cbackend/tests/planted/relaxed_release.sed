s/memory_order_release\(.*R1 -> A1\)/memory_order_relaxed\1/
