"""Aggregate functions of windows, and the panes that they are computed by."""

from framework.windows.aggregates.base import Acc, Adder, Aggregate, Result

__all__ = ["Acc", "Adder", "Aggregate", "Result"]
