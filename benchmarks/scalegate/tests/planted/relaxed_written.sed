s/memory_order_release(\); \/\* W0 -> W1)/memory_order_relaxed\1/
