s/if (!is_below(&member->head, &run->frontier))/if (is_below(\&run->frontier, \&member->head) || member->at == member->tail)/
