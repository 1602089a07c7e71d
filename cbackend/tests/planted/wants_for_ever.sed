s/atomic_store_explicit(&ring->room.wanting, 0, memory_order_relaxed);/(void)0;/
