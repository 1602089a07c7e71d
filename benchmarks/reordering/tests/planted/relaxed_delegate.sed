# K0: the owner may not see the tuple that was delegated to it.
s|(atomic_fetch_add_explicit\(count, 1, )memory_order_acq_rel|\1memory_order_acquire|
