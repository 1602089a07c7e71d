s/if (vp_txgroup_members(group)\[number\].log && has_unseen(/if (false \&\& has_unseen(/
