"""Positions are the places of tuples in the one order of a run.

Clocks give them to a spout's tuples, and descent gives them to a bolt's outputs. Ticks lie between inputs,
and offsets let a later run resume.

Modules here compute positions and times. They neither emit nor route tuples, and know no tasks.
"""
