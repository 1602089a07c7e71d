s/memory_order_release\( .. D0 -> D1\)/memory_order_relaxed\1/
