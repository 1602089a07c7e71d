s/given_up = atomic_compare_exchange_weak_explicit(word, &found, found & ~OWNERS, memory_order_release,/atomic_store(word, found \& ~OWNERS), given_up = true;/
/^ *memory_order_relaxed);$/d
