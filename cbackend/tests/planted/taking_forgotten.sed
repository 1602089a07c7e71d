s/number << OWNER_BITS | group, memory_order_relaxed);/0, memory_order_relaxed);/
