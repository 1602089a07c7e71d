/vp_undo_back(vp_txgroup_undo(group), read(&group->undo_length), 0);/d
