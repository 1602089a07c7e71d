/run->frontier = /{h;d
}
/VP_CRASH_POINT("evaluate: frontier");/d
s/^    open_logs(run);/&\n    VP_CRASH_POINT("evaluate: frontier");\n    run->frontier = vp_txgroup_frontier(group, \&holding);/
