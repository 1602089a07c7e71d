/^static void account/,/^}/{
/^    vp_merge_working(.*$/d
s/^}$/    vp_merge_working(merge, untracked_from(taken->into, before));\n}/
}
