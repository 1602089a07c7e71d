/^uint64_t vp_table_claim_list/,/^}/s/^        atomic_store_explicit(&table->taken.*$/        ;/
