s/^    VP_CRASH_POINT("commit: not yet");/    tell(group);\n&/
