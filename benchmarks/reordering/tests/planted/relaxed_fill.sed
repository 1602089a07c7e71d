# F0: a slot's count may be seen before its output.
s|(&slot->count, count, )memory_order_release|\1memory_order_relaxed|
