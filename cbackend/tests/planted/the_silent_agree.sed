/^bool vp_cut_agreed/,/^}/s/return false/continue/
