# P0: a place may be filled anew while its tuple is still read.
s|(&owned->head, head \+ 1, )memory_order_release|\1memory_order_relaxed|
