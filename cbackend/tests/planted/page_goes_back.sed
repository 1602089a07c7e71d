s/^        settle(merge); \/\* or the page.*$/        (void)merge;/
