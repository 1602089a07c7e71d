"""Positions, for those who build on the framework and do not see what lies below it."""

from viper.position import LEAST, Position, Positions, SourceClock

__all__ = ["LEAST", "Position", "Positions", "SourceClock"]
