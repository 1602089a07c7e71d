# The master queue tells of a tuple before it lies in its partition's queue.
/to->tail\+\+\), tuple, memory_order_relaxed/d
s|^(.*&queue->tail, tail \+ 1, memory_order_release.*)$|\1\n    atomic_store_explicit(ro_hybrid_place(queue, partition, to->tail++), tuple, memory_order_relaxed);|
