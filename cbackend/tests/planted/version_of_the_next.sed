s/const vp_word \*kept = kept_by_next(scheme, part);/const vp_word *kept = part->job == UINT32_MAX ? kept_by_next(scheme, part) : NULL;/
