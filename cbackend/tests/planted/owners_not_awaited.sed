s/!atomic_load_explicit(&job->is_done, memory_order_acquire);/times == UINT32_MAX;/
