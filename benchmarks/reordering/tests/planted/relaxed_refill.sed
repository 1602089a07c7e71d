# P1: likewise.
s|(&to->head, )memory_order_acquire|\1memory_order_relaxed|
