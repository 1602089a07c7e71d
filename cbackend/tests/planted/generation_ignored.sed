s/return vp_state_generation(state) == vp_tree_generation(tree) && /return (void)tree, /
