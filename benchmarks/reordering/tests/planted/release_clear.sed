# The flag is cleared by a release store.
s|atomic_exchange_explicit\(&buffer->flag, 0, memory_order_acq_rel\)|atomic_store_explicit(\&buffer->flag, 0, memory_order_release)|
