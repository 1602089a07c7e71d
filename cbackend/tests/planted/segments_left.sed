s/^    vp_txgroup_segments_back(group); .*/    atomic_store(\&group->segments, 0);/
