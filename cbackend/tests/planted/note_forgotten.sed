s/if (atomic_load_explicit(&note->tail, memory_order_relaxed) != tail) {/if (false) {/
