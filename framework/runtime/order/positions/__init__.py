"""Positions say where tuples stand in the one order of a run: clocks give them to a spout's tuples, descent
gives them to a bolt's outputs, ticks stand between inputs, and offsets let a later run resume.

Modules here compute positions and times. They neither emit nor route tuples, and know no tasks.
"""
