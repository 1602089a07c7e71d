"""Measurements of a bolt, from what channels and executors have counted at two moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from framework.operators.controllers import Measurements
from framework.planning import Plan
from framework.runtime.observation.statistics import ChannelStatistics, ExecutorStatistics


@dataclass(frozen=True, slots=True)
class Look:
    """The counts of a bolt at one moment."""

    elapsed_s: float
    """Seconds since the spouts were activated."""
    tasks: int
    """The number of tasks that got tuples."""
    flow: Flow
    busy: Mapping[str, tuple[float, float]]
    """By task, ``component:task id``, for how many seconds it had been busy at which monotonic time."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The tuples of a bolt; one that comes to several of its tasks counts once."""

    received: int
    """The number of tuples that producers had emitted to it."""
    taken: int
    """The number of these that its tasks had taken."""
    waiting: int
    """The number of tuples that waited in its channels."""


def flow_of(component: str, channels: Sequence[ChannelStatistics]) -> Flow:
    """The tuples of a bolt, as its channels have counted them.

    Tasks that get the same tuples read them from one channel: there is the mean of what these have taken,
    and the most that waits for one. Of tasks that claim their tuples, each takes others.
    """
    received = taken = waiting = 0
    for channel in channels:
        readers = [reader for reader in channel.readers if component_of(reader.task) == component]
        if readers:
            received += sum(source.tuples for source in channel.sources)
            copies = 1 if any(reader.claims for reader in readers) else len(readers)
            taken += sum(reader.delivered for reader in readers) // copies
            waiting += max(sum(reader.waiting.values()) for reader in readers)
    return Flow(received, taken, waiting)


def component_of(task: str) -> str:
    """The component in ``component:task id``."""
    return task.rpartition(":")[0]


class Measuring:
    """Measures one bolt, from call to call.

    Args:
        plan: has its tasks.
        component: its id.
    """

    def __init__(self, plan: Plan, component: str) -> None:
        self._component = component
        self._most = len(plan.tasks_of(component))
        self._before: Look | None = None
        self._shares: dict[str, float] = {}
        """By task the share of its time for which it was busy, when that was last seen."""

    def measured(
        self,
        elapsed_s: float,
        tasks: int,
        channels: Sequence[ChannelStatistics],
        executors: Sequence[ExecutorStatistics],
    ) -> Measurements | None:
        """The measurements since the last call.

        Args:
            elapsed_s: seconds since the spouts were activated.
            tasks: how many tasks get tuples.
            channels: all of the run.
            executors: likewise.

        Returns:
            None if there is nothing to compare with: it is the first call, the number of tasks has changed
            since the last one, or the run has begun again.
        """
        busy = {
            task: (seconds, executor.at_s)
            for executor in executors
            for task, seconds in zip(executor.tasks, executor.busy_s, strict=True)
            if component_of(task) == self._component
        }
        flow = flow_of(self._component, channels)
        before, self._before = self._before, Look(elapsed_s, tasks, flow, busy)
        if before is None or before.tasks != tasks or elapsed_s <= before.elapsed_s:
            return None
        period_s = elapsed_s - before.elapsed_s
        received = flow.received - before.flow.received
        taken = flow.taken - before.flow.taken
        if min(received, taken) < 0:
            return None
        return Measurements(
            component=self._component,
            elapsed_s=elapsed_s,
            period_s=period_s,
            tasks=tasks,
            most=self._most,
            rate=received / period_s,
            processed=taken / period_s,
            busy=min(1.0, self._busy(before.busy, busy) / tasks),
            backlog=flow.waiting,
        )

    def _busy(
        self, before: Mapping[str, tuple[float, float]], now: Mapping[str, tuple[float, float]]
    ) -> float:
        """The shares of time for which the tasks were busy, added up.

        Other processes report now and then: if one has not since the last call, its share is taken to be the
        same. A task of a process that was restarted begins at 0 again.
        """
        for task, (busy_s, at_s) in now.items():
            busy_before_s, before_s = before.get(task, (0.0, at_s))
            if at_s > before_s:
                added_s = busy_s - busy_before_s if busy_s >= busy_before_s else busy_s
                self._shares[task] = min(1.0, added_s / (at_s - before_s))
        return sum(self._shares.values())
