# A tuple counts as done before it is worked on.
s|^    do$|    uint64_t left;\n    do {\n        left = atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel);|
s|^    while \(atomic_fetch_sub_explicit\(count, 1, memory_order_acq_rel\) > 1\);.*|    } while (left > 1);|
