s/median_of(policy->parallel\[scheme\]) < median_of/median_of(policy->parallel[scheme]) > median_of/
