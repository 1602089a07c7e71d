s/        vp_write(writer, first, 0);/;/; s/    vp_write(writer, first, 0);/    (void)first;/
