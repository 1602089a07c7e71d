s/(atomic_load_explicit(&progress->version, memory_order_relaxed) + 1) | 1;/atomic_load_explicit(\&progress->version, memory_order_relaxed) + 1;/
