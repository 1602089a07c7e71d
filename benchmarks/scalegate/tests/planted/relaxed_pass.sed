s/memory_order_release(\);      \/\* P4)/memory_order_relaxed\1/
