s/ + (start > 0 ? 0 : before);/ + 0 * (start > 0 ? 0 : before);/
