s/bool is_saved = attempt && attempt == since;/bool is_saved = attempt != 0 || !since;/
