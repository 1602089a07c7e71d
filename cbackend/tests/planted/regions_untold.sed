s/scheme->segments_at = region;/scheme->segments_at = 0;/
