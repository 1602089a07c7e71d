s/(order == 0 && source_a < source_b)/((void)source_a, (void)source_b, order == 0)/
