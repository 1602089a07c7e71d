s/^        own->has_cut = true;/        own->has_cut = false;/
