"""Bolts: what happens to tuples."""
