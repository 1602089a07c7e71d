# The holder does not look at the slot once more.
s|if \(!atomic_load_explicit\(&empty->count, memory_order_relaxed\)\)|if (empty)|
