s/^        find_head(member);/&\n        member->reached = member->at;/
