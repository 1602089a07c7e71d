s/if (atomic_load_explicit(&scheme->is_wrong, memory_order_relaxed)) {/if (scheme->count == UINT32_MAX) {/
