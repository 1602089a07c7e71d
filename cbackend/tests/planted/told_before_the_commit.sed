s/^    VP_CRASH_POINT("evaluated: not yet");/    tell(group);\n&/
