s/run->length = vp_undo_write(undo, run->length, &member->done, member->reached);/atomic_store(\&member->done, member->reached), (void)undo;/
