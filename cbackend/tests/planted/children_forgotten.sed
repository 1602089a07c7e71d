s/ends\[count - 1\] + before/ends[count - 1] + 0 * before/
