s/return owner == me;$/return true;/;
