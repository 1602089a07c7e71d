# K1: likewise.
s|(atomic_fetch_add_explicit\(count, 1, )memory_order_acq_rel|\1memory_order_release|
