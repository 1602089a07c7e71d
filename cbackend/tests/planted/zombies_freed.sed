/^int64_t vp_table_fail_all/,/^}/s/if (vp_state_is_open(state))/if (state)/
