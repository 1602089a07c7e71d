# A worker that sees the flag set does not try it.
s|while \(!atomic_exchange|while (!atomic_load_explicit(\&buffer->flag, memory_order_acquire) \&\& !atomic_exchange|
