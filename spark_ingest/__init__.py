"""Spark jobs that prepare a dataset, and the spouts that replay it (they come later)."""
