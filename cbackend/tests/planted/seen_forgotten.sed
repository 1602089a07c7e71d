/^        atomic_store(&merge->own->seen, merge->number);$/s/merge->number/UINT64_MAX/
