# F1: a slot's output may be read before its count.
s|(&slot->count, )memory_order_acquire|\1memory_order_relaxed|
