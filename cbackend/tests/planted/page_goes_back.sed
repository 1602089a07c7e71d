s/^        settle(merge);/        (void)merge;/
