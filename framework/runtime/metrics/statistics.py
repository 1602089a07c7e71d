"""How a run's channels and executors are doing: what waits where, and for whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from framework.planning import Plan
from viper.statistics import GateStatistics

Ends = tuple[tuple[int, ...], tuple[int, ...]]
"""Ids of the tasks that feed a channel, and of those that read from it."""


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
    """Runs that they were delivered in: many short ones mean that sources interleave."""
    waiting: Mapping[str, int]
    """Tuples that wait in the channel now, by the task that added them."""
    held_by: str | None
    """The task that keeps everything else waiting, as it may still add what comes next."""


@dataclass(frozen=True, slots=True)
class ChannelStatistics:
    """One channel: the tasks that feed it and those that read from it."""

    sources: Sequence[SourceStatistics]
    readers: Sequence[ReaderStatistics]
    capacity: int
    """Tuples that it has room for, from each source."""


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


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """A whole run."""

    channels: Sequence[ChannelStatistics]
    executors: Sequence[ExecutorStatistics]
    """Those that have said how they are doing: all of this process; of others when they last told."""

    def holding(self) -> Mapping[str, str]:
        """For each task that waits for another to get further: that other one."""
        return {
            reader.task: reader.held_by
            for channel in self.channels
            for reader in channel.readers
            if reader.held_by is not None
        }


def channel_statistics(
    plan: Plan, gates: Iterable[tuple[Ends, GateStatistics]]
) -> Sequence[ChannelStatistics]:
    """The statistics of all channels of a run, by the names of tasks.

    Args:
        plan: knows the tasks' names.
        gates: for each channel its tasks and the counts of its gate. Counts that processes change meanwhile
            are of slightly different moments.
    """
    names = {task.id: f"{task.component}:{task.id}" for task in plan.tasks}
    found = []
    for (sources, readers), gate in gates:
        adding = [
            SourceStatistics(
                task=names[task],
                tuples=added.added_tuples,
                jumbos=added.added_jumbos,
                payload_bytes=added.added_bytes,
                refused=added.refused,
                blocked_s=added.blocked_ns / 1e9,
            )
            for task, added in zip(sources, gate.sources, strict=True)
        ]
        reading = [
            ReaderStatistics(
                task=names[task],
                delivered=sum(source.delivered_tuples for source in taken.sources),
                runs=sum(source.runs for source in taken.sources),
                waiting={names[s]: d.waiting_tuples for s, d in zip(sources, taken.sources, strict=True)},
                held_by=None if taken.holding is None else names[sources[taken.holding]],
            )
            for task, taken in zip(readers, gate.readers, strict=True)
        ]
        found.append(ChannelStatistics(adding, reading, gate.tuples))
    return found
