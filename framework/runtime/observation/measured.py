"""The measurements of each task of a run, which a model of the costs of plans is fitted to.

Counts continue after a restart of a worker process. CPU times and turns that a process had not reported when
it died are missing: a tenth of a second at most while tuples move. A run that goes back counts from 0 again.
Everything is since the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredInput:
    """The input of a task from one other task."""

    task: str
    """The other one, ``component:task id``, as everywhere here."""
    tuples: int
    streams: Mapping[str, int]
    """The same by stream; empty where it comes from a merge bolt.

    If several streams go from one task to the other, their producer counts them, so that after its death they
    are known by approximation.
    """
    runs: int
    """Stretches of one jumbo tuple that they were taken in: a run ends where the merge continues with another
    source or another jumbo tuple, and where a take ends."""
    jumbos: int
    """Jumbo tuples that were taken to their end."""
    decoded: int
    """The tuples that came as bytes, from another process."""


@dataclass(frozen=True, slots=True)
class MeasuredOutput:
    """The output of a task into one channel."""

    tasks: Sequence[str]
    """The tasks that read all of it."""
    tuples: int
    streams: Mapping[str, int]
    """The same by stream; empty where it comes from a merge bolt."""
    jumbos: int
    encoded: int
    """The tuples that were written as bytes, once for all readers in other processes."""
    bytes: int
    """The bytes."""


@dataclass(frozen=True, slots=True)
class MeasuredTask:
    """One task."""

    component: str
    task: int
    """Its id."""
    index: int
    """Its place among the tasks of its component, from 0."""
    worker: int
    """The number of its worker, from 1."""
    executor: int
    """The number of its executor, which is one thread, from 0, as `RunStatistics.executors` has it."""
    cpu_s: float
    """CPU seconds of its turns; those of other tasks that ran while it waited for room are theirs."""
    turns: int
    """Turns in which tuples have moved: a spout has emitted some, a bolt has processed some."""
    idle_turns: int
    """Turns in which none have: for heartbeats, ticks and ends, or because there was nothing."""
    emitted: Mapping[str, int]
    """Tuples emitted by stream, of streams that somebody receives."""
    inputs: Sequence[MeasuredInput]
    outputs: Sequence[MeasuredOutput]

    @property
    def name(self) -> str:
        """``component:task id``."""
        return f"{self.component}:{self.task}"

    @property
    def tuples_in(self) -> int:
        """Tuples that it has taken."""
        return sum(one.tuples for one in self.inputs)

    @property
    def runs(self) -> int:
        """Runs that it has taken them in."""
        return sum(one.runs for one in self.inputs)

    @property
    def tuples_out(self) -> int:
        """Tuples that it has put into channels; one for several channels counts in each."""
        return sum(one.tuples for one in self.outputs)

    def in_by_stream(self) -> Mapping[tuple[str, str], int]:
        """Tuples that it has taken by component and stream; the stream of a merge bolt's tuples is empty."""
        found = ((one.task.rpartition(":")[0], one) for one in self.inputs)
        return _added(
            ((component, stream), count)
            for component, one in found
            for stream, count in (one.streams or {"": one.tuples}).items()
        )


def _added(counts: Iterable[tuple[tuple[str, str], int]]) -> Mapping[tuple[str, str], int]:
    total: dict[tuple[str, str], int] = {}
    for key, count in counts:
        total[key] = total.get(key, 0) + count
    return total
