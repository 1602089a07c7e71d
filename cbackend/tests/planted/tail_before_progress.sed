/vp_progress_read(&reader/{h;d;}
/reader->published = atomic_load/G
