s/if (atomic_compare_exchange_weak_explicit(&claims->words\[i\], &found, found & ~OWNERS, memory_order_release,/atomic_store(\&claims->words[i], found \& ~OWNERS);/
/^ *memory_order_relaxed))$/d
