s/memory_order_release, \/\* S0 -> S1 \*\//memory_order_acquire,/
