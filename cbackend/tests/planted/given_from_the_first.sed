s/^    while (count-- > 0) {/    for (uint64_t i = 0; i < count; i++) {/; s/words\[first + count\], 0, memory_order_release/words[first + i], 0, memory_order_release/
