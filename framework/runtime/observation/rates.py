"""Rates between two snapshots of a run, how its tasks have spent their time, and its bottleneck."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from framework.runtime.observation.counters import Counts, added, percentile_s
from framework.runtime.observation.snapshot import ComponentSnapshot, RunSnapshot, TaskSnapshot

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

    Worker processes report several times a second, so that these are not quite the ones between two
    snapshots.
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
    """The times that the tuples of all tasks together took meanwhile."""
    earlier = {task.id: task for task in before}
    return added(task.times_since(earlier.get(task.id)) for task in now)


FROM_CAPACITY: Final = 0.9
"""The capacity from which on a component is named: it has hardly any time left."""
_MOSTLY: Final = 0.5
"""The share of its time in turns from which on a component is said to wait."""
_FROM_BLOCKED: Final = 0.9
"""The share of its time from which on a spout is said to be held by what comes behind it."""
_FULL: Final = 0.9
"""The fill of an input from which on it is taken for full: it is seen at one moment, when a slice may just
have been taken from it."""
_FROM_HOLDING: Final = 0.5
"""The capacity from which on a bolt with a full input is named, if it holds a spout."""
_HARDLY: Final = 0.1
"""The share of its time for which the bolt that holds the others may be blocked itself."""

_Known = tuple[ComponentSnapshot, ComponentRates]


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The component with the largest capacity, where that is near 1, or where a spout is blocked by it."""

    component: str
    role: str
    """``spout`` or ``bolt``."""
    capacity: float
    waits: bool
    """True if it waits for most of that time, and does not compute."""
    blocked: str = ""
    """A spout that is blocked nearly all the time, where the capacity alone would not name the component."""

    @property
    def told(self) -> str:
        """The component that holds the run, and the remedy, in words."""
        name = f"{self.role} {self.component}"
        limit = f"{name} is at its limit, in its code for {self.capacity:.0%} of the time"
        if self.blocked:
            held = f"its input is full, and spout {self.blocked} is blocked"
            limit = f"{name} holds the run: {held}; it is in its code for {self.capacity:.0%} of the time"
        if self.waits:
            return f"{limit}, waiting, not computing: more tasks in more workers help, more cores do not"
        if self.role == "spout":
            return f"{limit}, computing: more tasks help, if they can share its input, on more cores"
        return f"{limit}, computing: more tasks help, in more workers on more cores"


def bottleneck(snapshot: RunSnapshot, rates: Mapping[str, ComponentRates]) -> Bottleneck | None:
    """Return the component that a run has to wait for; None if there is none.

    A spout that waits for its data is none, however long it waits: its capacity counts only its computing. If
    no capacity is near 1, and a spout is blocked nearly all the time, it is the bolt with the largest
    capacity. That bolt's input must be full, it must hardly be blocked, and it must be in its code for half
    of the time.

    Args:
        snapshot: of the run.
        rates: of its components, by id.
    """
    known = [(each, rates[each.id]) for each in snapshot.components if each.id in rates]
    component, found = max(known, key=lambda one: one[1].capacity, default=(None, None))
    blocked = ""
    if found is not None and found.capacity < FROM_CAPACITY:
        component, found, blocked = _holding(known)
    if component is None or found is None:
        return None
    in_turns = found.busy + found.waiting
    waits = component.role == "bolt" and found.waiting > _MOSTLY * in_turns
    return Bottleneck(component.id, component.role, found.capacity, waits, blocked)


def _holding(known: Sequence[_Known]) -> tuple[ComponentSnapshot | None, ComponentRates | None, str]:
    """The bolt before which all others wait, and the spout that is blocked the most; None without one.

    Its input is full, it has room for what it emits, and no other bolt has less time left.
    """
    spouts = [one for one in known if one[0].role == "spout" and one[1].blocked >= _FROM_BLOCKED]
    bolts = [one for one in known if one[0].role == "bolt"]
    if not spouts or not bolts:
        return None, None, ""
    component, found = max(bolts, key=lambda one: one[1].capacity)
    if component.fill < _FULL or found.capacity < _FROM_HOLDING or found.blocked > _HARDLY:
        return None, None, ""
    return component, found, max(spouts, key=lambda one: one[1].blocked)[0].id
