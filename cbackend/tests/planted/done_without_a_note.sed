s/run->length = vp_undo_write(undo, run->length, done, cursor->reached);/atomic_store(done, cursor->reached), (void)undo;/
