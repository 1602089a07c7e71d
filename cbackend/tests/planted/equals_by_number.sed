s/if (a->component != b->component)/if (false)/
s/return a->task != b->task ? a->task < b->task : one < other;/return a \&\& b \&\& one < other;/
