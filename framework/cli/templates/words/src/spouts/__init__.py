"""Spouts: where tuples come from."""
