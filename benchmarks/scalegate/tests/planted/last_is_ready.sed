s/^    if \(is_last\(reader\)\)$/    if (is_last(reader) \&\& !sl_link_next(atomic_load(\&node_of(reader)->link)))/
