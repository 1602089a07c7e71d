s/vp_line_number(parents, first + i);/vp_line_number(parents, first + (i ? i - 1 : 0));/
