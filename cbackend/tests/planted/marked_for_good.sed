s/return fault == EOWNERDEAD ?.*/return fault == EOWNERDEAD || !fault;/
