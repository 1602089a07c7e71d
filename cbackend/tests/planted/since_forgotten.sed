s/atomic_store_explicit(since(claims, group), number, memory_order_relaxed);/;/
