s/vp_write(writer, &changes->generation, vp_read(&changes->generation) + 1);/vp_write(writer, \&changes->generation, vp_read(\&changes->generation));/
