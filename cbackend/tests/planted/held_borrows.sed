s/| (held & VP_COUNT_MASK);/| held;/
