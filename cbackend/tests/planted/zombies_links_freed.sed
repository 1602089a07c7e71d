/^static void spare_unused_links/,/^}/s/->used = 1;/->used = 0;/
