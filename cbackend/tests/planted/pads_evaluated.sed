s/^    const vp_position \*head = find_head(cursor);/&\n    cursor->reached = cursor->at;/
