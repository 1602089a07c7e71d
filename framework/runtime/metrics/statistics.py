"""How a run's channels, executors and workers are doing, as values that can be shown and sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.runtime.metrics.counters import TaskCounters


@dataclass(frozen=True, slots=True)
class SourceStatistics:
    """What one task has put into a channel."""

    task: str
    """``component:task id``, as everywhere here."""
    tuples: int
    """Tuples added, ever."""
    jumbos: int
    """Jumbo tuples that they were added in."""
    payload_bytes: int
    """Bytes that were written for readers in other processes."""
    refused: int
    """Adds that found the channel full."""
    blocked_s: float
    """Seconds for which it had something to add and found no room."""


@dataclass(frozen=True, slots=True)
class ReaderStatistics:
    """What one task has taken from a channel."""

    task: str
    delivered: int
    """Tuples delivered, ever."""
    runs: int
    """Runs of tuples from one source that they were delivered in: short ones mean that sources interleave."""
    waiting: Mapping[str, int]
    """Tuples that wait in the channel now, by the task that added them."""
    held_by: str | None
    """The task for which the others' tuples have to wait, as it may still add the one that comes next."""


@dataclass(frozen=True, slots=True)
class ChannelStatistics:
    """One channel: the tasks that feed it and those that read from it."""

    sources: Sequence[SourceStatistics]
    readers: Sequence[ReaderStatistics]
    capacity: int
    """Tuples that it has room for, from each source."""


@dataclass(frozen=True, slots=True)
class LongCallback:
    """A callback that has been running for a while without having emitted anything."""

    task: str
    callback: str
    """Its name, e.g. ``process``."""
    seconds: float
    """For how long; right to a second."""

    def __str__(self) -> str:
        return f"{self.task} has been in {self.callback} for {self.seconds:.0f} s"


@dataclass(frozen=True, slots=True)
class ExecutorStatistics:
    """One thread of execution."""

    worker: int
    """Number of its worker."""
    tasks: Sequence[str]
    turns: int
    """How often it has run a task."""
    rests: int
    """How often it had nothing to do."""
    rested_s: float
    """Seconds that it has rested in all."""
    cpu_s: float
    """CPU seconds that its thread has used; 0 until its tasks have ended."""
    callback: LongCallback | None = None
    """The callback that it is in, if that has been running for a second or longer."""


@dataclass(frozen=True, slots=True)
class StateStatistics:
    """What is remembered in one declared state."""

    component: str
    """Its component; of state of tasks ``component:task id``."""
    state: str
    """Its name."""
    per: str
    """``key`` or ``task``."""
    keys: int
    bytes: int
    """What all state of that component, or task, has of the memory of state (``viper.state.bytes``)."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What the tasks of one process have done."""

    counters: Mapping[int, TaskCounters]
    """By task."""
    results: Mapping[int, Any]
    """Of the sinks that have a result, by task."""
    executors: Sequence[ExecutorStatistics]
    drained: bool
    """Whether everything that came to its tasks has been processed."""


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """A whole run."""

    channels: Sequence[ChannelStatistics]
    executors: Sequence[ExecutorStatistics]
    """All executors of this process, and those of other processes as they were when they last reported."""
    states: Sequence[StateStatistics] = ()
    """Declared state, by component."""

    def holding(self) -> Mapping[str, str]:
        """By each task that waits for another one to get further, the task that it waits for."""
        return {
            reader.task: reader.held_by
            for channel in self.channels
            for reader in channel.readers
            if reader.held_by is not None
        }
