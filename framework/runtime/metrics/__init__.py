"""Metrics: what is counted while a topology runs, as plain values that can be shown and sent.

Nothing here imports another room of the runtime; whoever does something counts it.
"""
