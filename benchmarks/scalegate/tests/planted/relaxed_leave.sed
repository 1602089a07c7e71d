s/memory_order_release(\);      \/\* P5)/memory_order_relaxed\1/
