s/const bool goes_on = vp_compare(\(.*\)) == 0;/const bool goes_on = vp_compare(\1) > 0;/
