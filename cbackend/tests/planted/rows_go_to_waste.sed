s/^                leave_spare(table, (uint64_t)mine);/                (void)mine;/
