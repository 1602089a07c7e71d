/^static bool change/,/^}/s/^        left->count = noted;/        (void)noted;/
