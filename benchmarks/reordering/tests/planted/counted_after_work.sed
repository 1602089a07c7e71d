# A worker that finds nobody at work counts its partition only behind its work.
s|if \(atomic_fetch_add_explicit\(count, 1, memory_order_acq_rel\) > 0\)|if (atomic_load_explicit(count, memory_order_acquire) > 0 \&\& (atomic_fetch_add_explicit(count, 1, memory_order_acq_rel), true))|
s|^    do$|    work_on_next(queue, partition, work, context);\n    atomic_fetch_add_explicit(count, 1, memory_order_acq_rel);\n    while (atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel) > 1)|
s|^    while \(atomic_fetch_sub_explicit\(count, 1, memory_order_acq_rel\) > 1\); .*||
