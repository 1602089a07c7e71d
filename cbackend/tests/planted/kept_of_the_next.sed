s/read_kept(outputs, index, ones, \&kept)/read_kept(outputs, index ? index - 1 : 0, ones, \&kept)/
