s/memory_order_release\(.*R0 -> A0\)/memory_order_relaxed\1/
