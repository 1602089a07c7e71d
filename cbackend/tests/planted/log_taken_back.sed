s/^        settle(writer, vp_read(&writer->undo->parts\[part\]));/        ;/
