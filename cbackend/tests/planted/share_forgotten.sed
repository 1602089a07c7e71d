s/if (taken && has_enough(claimant, groups\[gone\], number + gone))/if (taken \&\& has_enough(claimant, groups[gone], number + gone) \&\& !most)/
