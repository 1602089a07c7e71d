s/order == 0 \&\& a\.tie < b\.tie/order == 0 \&\& (a.tie >> 48 != b.tie >> 48 || a.tie < b.tie)/
