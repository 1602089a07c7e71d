/^static void finish/,/^}/{
/^    push(forest, tree);/d
s/    VP_CRASH_POINT("finish: ended");/&\n    push(forest, tree);/
}
