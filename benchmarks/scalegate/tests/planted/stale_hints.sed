s/&& !sl_pool_lives\(gate, own->hints\[level\]\)/\&\& false/
