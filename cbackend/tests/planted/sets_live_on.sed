s/header = vp_header_turned(header);/header |= 0;/
