s/return vp_row_is_alive(row) || !snapshot->is_whole;/return vp_row_is_alive(row) || !snapshot;/
