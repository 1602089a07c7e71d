s/^    const vp_position \*head = vp_cursor_head(cursor);/&\n    cursor->reached = cursor->at;/
