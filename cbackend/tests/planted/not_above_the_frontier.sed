s/if (!is_below(position, &run->frontier))/if (is_below(\&run->frontier, position) || position == \&END)/
