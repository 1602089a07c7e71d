"""What went on between two snapshots of a run: rates, and how the tasks have spent their time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from framework.runtime.observation.snapshot import ComponentSnapshot, RunSnapshot, TaskSnapshot
from framework.runtime.observation.times import Counts, added, percentile_s

WINDOW_S = 2.0
"""Seconds that rates are the average of."""


@dataclass(frozen=True, slots=True)
class ComponentRates:
    """One component between two moments. Shares are of the time of its tasks, from 0 to 1."""

    rate: float
    """Tuples processed per second; of a spout those emitted."""
    busy: float
    """The mean share for which its tasks computed; those that stand by do not count."""
    blocked: float
    """The mean share for which they had something to emit and found no room."""
    capacity: float
    """The share for which the busiest of its tasks had no time for more. Of a bolt that is the time in its
    turns, computing or waiting; Storm's capacity is the same: tuples executed times execute latency, by the
    length of the window. Of a spout it is the time for which it computed: one that waits for its data does
    not hold the run."""
    execute_s: float | None
    """Seconds of work per tuple, waiting included; None if there were none."""
    p50_s: float | None = None
    """Seconds that half of its tuples took at most (`TaskSnapshot.times`); None if there were none."""
    p99_s: float | None = None
    """Seconds that 99 of a hundred took at most."""
    waiting: float = 0.0
    """The mean share for which its tasks were in its code and did not compute: it slept, or waited for
    others, such as a disk or a network."""

    @property
    def idle(self) -> float:
        """The mean share for which its tasks had nothing to do."""
        return max(0.0, 1.0 - self.busy - self.waiting - self.blocked)


def rates_between(before: RunSnapshot, now: RunSnapshot) -> Mapping[str, ComponentRates]:
    """The rates of each component, by id.

    Returns:
        Nothing where the two cannot be compared: no time lies between them, or the run has gone back.
    """
    period_s = now.at_s - before.at_s
    if period_s <= 0 or (now.run, now.attempt) != (before.run, before.attempt):
        return {}
    earlier = {component.id: component for component in before.components}
    return {
        component.id: _rates(earlier[component.id], component, period_s)
        for component in now.components
        if component.id in earlier
    }


def rates_since_beginning(now: RunSnapshot) -> Mapping[str, ComponentRates]:
    """The rates of each component on the average since the spouts were activated, by id, from one snapshot.

    Returns:
        Nothing where they have not been activated yet.
    """
    began_s = now.at_s - now.elapsed_s
    components = tuple(_at_beginning(each, began_s) for each in now.components)
    return rates_between(replace(now, at_s=began_s, elapsed_s=0.0, components=components), now)


def _at_beginning(now: ComponentSnapshot, began_s: float) -> ComponentSnapshot:
    """A component when nothing had been counted yet."""
    tasks = tuple(TaskSnapshot(task.id, 0.0, began_s, task.worker) for task in now.tasks)
    return replace(now, tasks=tasks, emitted=0, processed=0, blocked_s=0.0)


class Recent:
    """The snapshots of the last seconds of a run.

    Args:
        window_s: how many seconds rates are the average of.
    """

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._snapshots: deque[RunSnapshot] = deque()

    def add(self, snapshot: RunSnapshot) -> Mapping[str, ComponentRates]:
        """Take a snapshot in.

        Returns:
            The rates of each component since the earliest snapshot of the window; none at the first one.
        """
        snapshots = self._snapshots
        snapshots.append(snapshot)
        while len(snapshots) > 2 and snapshot.at_s - snapshots[1].at_s >= self._window_s:
            snapshots.popleft()
        return rates_between(snapshots[0], snapshot)


def _rates(before: ComponentSnapshot, now: ComponentSnapshot, period_s: float) -> ComponentRates:
    count = now.handled - before.handled
    work = _work(before.tasks, now.tasks)
    shares = [min(1.0, worked_s / within_s) if within_s > 0 else 0.0 for worked_s, within_s, _ in work]
    waits = [
        share * waited_s / worked_s if worked_s > 0 else 0.0
        for share, (worked_s, _, waited_s) in zip(shares, work, strict=True)
    ]
    working = max(1, now.parallelism)
    in_turns = min(1.0, sum(shares) / working)
    waiting = min(in_turns, sum(waits) / working)
    no_room = [share - (waits[n] if now.role == "spout" else 0.0) for n, share in enumerate(shares)]
    times = _times(before.tasks, now.tasks)
    blocked = (now.blocked_s - before.blocked_s) / (period_s * working)
    return ComponentRates(
        rate=max(0, count) / period_s,
        busy=in_turns - waiting,
        blocked=min(1.0 - in_turns, max(0.0, blocked)),
        capacity=max(no_room, default=0.0),
        execute_s=sum(worked_s for worked_s, *_ in work) / count if count > 0 else None,
        p50_s=percentile_s(times, 0.5),
        p99_s=percentile_s(times, 0.99),
        waiting=waiting,
    )


def _work(
    before: Sequence[TaskSnapshot], now: Sequence[TaskSnapshot]
) -> Sequence[tuple[float, float, float]]:
    """For each task the seconds that it has worked meanwhile, those within which it did, and those of its
    work in which it did not compute.

    Worker processes tell several times a second, so that these are not quite the ones between two snapshots.
    """
    earlier = {task.id: task for task in before}
    return [
        (
            task.worked_since(earlier.get(task.id)),
            task.at_s - earlier.get(task.id, task).at_s,
            task.waited_since(earlier.get(task.id)),
        )
        for task in now
    ]


def _times(before: Sequence[TaskSnapshot], now: Sequence[TaskSnapshot]) -> Counts:
    """How long the tuples of all tasks together took meanwhile."""
    earlier = {task.id: task for task in before}
    return added(task.times_since(earlier.get(task.id)) for task in now)
