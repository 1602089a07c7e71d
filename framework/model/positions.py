"""Positions, for those who build on the framework and do not see what lies below it.

A file of its own: packages above the framework import positions from here.
"""

from viper.position import LEAST, Position, Positions, SourceClock

__all__ = ["LEAST", "Position", "Positions", "SourceClock"]
