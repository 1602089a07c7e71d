s/which < 2; which++/which < 1; which++/
