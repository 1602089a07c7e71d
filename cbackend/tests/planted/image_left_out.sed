s/return save(context, row, number) < 0 || note/return (false \&\& save(context, row, number) < 0) || note/
