"""What a run did: counts while it runs, and the report when it has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framework.runtime.counters import TaskCounters
from framework.runtime.stop import StopReason


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    elapsed_s: float
    """Seconds since the spouts were activated."""
    emitted: int
    """Tuples emitted by the spouts."""
    processed: int
    """Tuples processed by all bolts together."""
    done: bool
    """Whether this is the last one."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run that has ended."""

    topology: str
    time: str
    """The time it ran by: event, logical or ingest."""
    reason: StopReason
    elapsed_s: float
    """Seconds from activation to the end of the drain."""
    emitted: int
    """Tuples emitted by the spouts."""
    components: Mapping[str, TaskCounters]
    """Counts of each component, all its tasks together, in order of definition."""
    results: Mapping[str, tuple[Any, ...]]
    """For each sink that has a result: what its tasks returned."""
    drained: bool
    """Whether everything that was emitted has been processed."""

    @property
    def rate(self) -> float:
        """Tuples processed by all bolts together, per second."""
        total = sum(counters.processed for counters in self.components.values())
        return total / self.elapsed_s if self.elapsed_s else 0.0

    def result(self, component: str) -> Any:
        """The result of a sink with one task.

        Raises:
            KeyError: the component is no sink, or its result is None.
            ValueError: it has several tasks; see `results`.
        """
        (only,) = self.results[component]
        return only
