/vp_ring_slowest/,/^}/s/reader < gate->reader_count/reader < 1/
