s/if (due->bells\[i\] == bell)/if (due->bells[i] == bell \&\& i > due->count)/
