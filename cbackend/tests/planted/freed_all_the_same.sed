s/writer->freed_count = place.freed;/(void)place;/
