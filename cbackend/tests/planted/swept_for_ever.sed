s/atomic_store_explicit(&at->swept, 0, memory_order_relaxed);/(void)at;/
