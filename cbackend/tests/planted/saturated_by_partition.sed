s/last == other_last ? a < b : other_last/((void)last, (void)other_last, a < b)/
