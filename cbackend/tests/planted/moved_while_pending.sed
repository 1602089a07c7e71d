s/return !has_part(table, part_of(table, vp_read(&table->rows))) && is_sparse(table);/return false \&\& is_sparse(table);/
