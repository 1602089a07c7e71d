# The flag is tried without a release: the slot may be filled behind it.
s|(&buffer->flag, 1, )memory_order_acq_rel|\1memory_order_acquire|
