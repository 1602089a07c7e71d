# K0: the next owner may not see what this one did.
s|(atomic_fetch_sub_explicit\(count, 1, )memory_order_acq_rel|\1memory_order_acquire|
