"""Jobs: what is read, and how its rows become streams, as plain values and as what Spark makes of them."""
