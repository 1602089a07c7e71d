s/if \(turns\[i\] % 2 && turn == turns\[i\]\)/if (turns[i] % 2 \&\& turn == 0)/
