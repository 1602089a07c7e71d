"""What is counted while a topology runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class TaskCounters:
    """Counts of one task; only ever growing."""

    emitted: int = 0
    """Tuples emitted, whether or not anybody subscribes to their stream."""
    processed: int = 0
    """Tuples processed, ticks not included."""
    ticks: int = 0
    """Ticks processed."""
    acked: int = 0
    """Tuples acked by the component itself."""
    failed: int = 0
    """Tuples failed by the component itself."""
    errors: int = 0
    """Exceptions that the component survived."""
    undeclared: int = 0
    """Tuples dropped because their stream is not declared."""
    saturated: int = 0
    """Tuples whose position had no room left for their place among their siblings."""
    unplanned: int = 0
    """Tuples emitted outside the processing of an input: in `initialize`, by a timer, by a thread."""
    metrics: dict[str, Any] = field(default_factory=dict)
    """Last value of each metric that the component reported."""

    def add(self, other: TaskCounters) -> None:
        """Add the counts of another task of the same component; its metrics win."""
        for name in self.__slots__:
            if name == "metrics":
                self.metrics.update(other.metrics)
            else:
                setattr(self, name, getattr(self, name) + getattr(other, name))
