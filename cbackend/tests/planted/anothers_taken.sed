s/return !owner || owner == me;/return true;/
