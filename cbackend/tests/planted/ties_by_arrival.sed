s/(source_a < source_b)/((void)source_a, (void)source_b, false)/
