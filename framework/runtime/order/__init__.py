"""The one order of a run: positions, and the tracked tuples that descend from one another along them."""
