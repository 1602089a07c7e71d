"""A year of flights: where they come from, and the bolts that follow them."""
