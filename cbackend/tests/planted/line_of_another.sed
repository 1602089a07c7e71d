s/if (comes_on_line(merge))/if (0)/
