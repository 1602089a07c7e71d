s/^            vp_wait_for(&scheme->turns\[__builtin_ctzll(left)\].turn, \*tickets++);/            (void)tickets;/
