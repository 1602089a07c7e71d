/^void vp_cut_say/,/^}/s/int64_t silent = SILENT,/int64_t silent = atomic_load_explicit(\&cut->said[member], memory_order_relaxed),/
