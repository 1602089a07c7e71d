s/length = vp_undo_back(undo, length, begun);/(void)begun;/
