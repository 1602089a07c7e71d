s/empty(writer, changes, !is_saved);/empty(writer, changes, false);/
