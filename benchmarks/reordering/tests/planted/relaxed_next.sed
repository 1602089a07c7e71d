# N0: the next serial number may be seen before the slot is empty.
s|(&buffer->next, next, )memory_order_release|\1memory_order_relaxed|
