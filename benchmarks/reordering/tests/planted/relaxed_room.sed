# N1: a slot may be filled while its output is still read.
s|(&buffer->next, )memory_order_acquire|\1memory_order_relaxed|
