# M1: likewise.
s|(head == atomic_load_explicit\(&queue->tail, )memory_order_acquire|\1memory_order_relaxed|
