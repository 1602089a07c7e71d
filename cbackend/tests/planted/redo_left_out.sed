/^    atomic_store(&gate->readers\[reader\].seen, committed(page, first, gate));/d
