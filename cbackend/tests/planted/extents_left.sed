s/^    vp_pool_reclaim(pool, owned, owner_count);/    (void)owned, (void)owner_count;/
