"""How far the input of a task has come."""

from __future__ import annotations

import enum


class Progress(enum.IntEnum):
    """How far the input of a bolt's task has come."""

    OPEN = enum.auto()
    """There is more to come."""
    QUIET = enum.auto()
    """Every source has brought all it has; only tuples that fail may come once more, or through a cycle."""
    DRAINED = enum.auto()
    """All has been processed, but for what may come back through a cycle."""
    OVER = enum.auto()
    """Nothing will come."""
