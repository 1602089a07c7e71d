# M0: a tuple may be taken before it lies in its queue.
s|(&queue->tail, tail \+ 1, )memory_order_release|\1memory_order_relaxed|
