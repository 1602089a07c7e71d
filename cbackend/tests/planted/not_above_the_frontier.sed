s/return vp_is_below(order->heads\[\*turn\], &run->frontier) ?/return !vp_is_below(\&run->frontier, order->heads[*turn]) \&\& order->heads[*turn] != \&VP_TX_END ?/
