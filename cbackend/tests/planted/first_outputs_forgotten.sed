s/part.skipped = from.output;/part.skipped = 0;/
