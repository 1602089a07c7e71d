"""The work of a run's components since some time ago, for views and scrapers that ask by time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from framework.runtime.observation import ComponentSnapshot, Counts, RunSnapshot, TaskSnapshot
from framework.runtime.observation.counters import added, since

_FINE_S, _FINE = 10.0, 66
"""Seconds between two marks of the last ten minutes, and how many there are."""
_COARSE_S, _COARSE = 300.0, 290
"""The same for the last day."""


@dataclass(frozen=True, slots=True)
class Done:
    """The totals of a component's work."""

    emitted: int = 0
    processed: int = 0
    acked: int = 0
    failed: int = 0
    busy_s: float = 0.0
    """Seconds of work of its tasks; they keep growing when a worker process is replaced."""
    times: Counts = ()
    """The times that its tuples took; they continue likewise."""
    waited_s: float = 0.0
    """The part of `busy_s` in which its tasks did not compute."""

    def since(self, before: Done) -> Done:
        """Return the difference to earlier totals."""
        return Done(
            self.emitted - before.emitted,
            self.processed - before.processed,
            self.acked - before.acked,
            self.failed - before.failed,
            self.busy_s - before.busy_s,
            since(before.times, self.times),
            self.waited_s - before.waited_s,
        )


@dataclass(frozen=True, slots=True)
class _Mark:
    """All components at one moment."""

    at_s: float
    elapsed_s: float
    attempt: int
    components: Mapping[str, Done]


class History:
    """Remembers marks of a run, the finer the younger they are. One thread adds; others may ask."""

    def __init__(self) -> None:
        self._tasks: dict[int, TaskSnapshot] = {}
        self._last = _Mark(0.0, 0.0, 0, {})
        self._fine: deque[_Mark] = deque(maxlen=_FINE)
        self._coarse: deque[_Mark] = deque(maxlen=_COARSE)

    def add(self, snapshot: RunSnapshot) -> None:
        """Take a snapshot in."""
        before = self._last.components
        done = {each.id: self._done(before.get(each.id, Done()), each) for each in snapshot.components}
        self._tasks = {task.id: task for each in snapshot.components for task in each.tasks}
        self._last = mark = _Mark(snapshot.at_s, snapshot.elapsed_s, snapshot.attempt, done)
        for marks, period_s in ((self._fine, _FINE_S), (self._coarse, _COARSE_S)):
            if not marks or mark.at_s - marks[-1].at_s >= period_s:
                marks.append(mark)

    @property
    def total(self) -> Mapping[str, Done]:
        """The totals of each component since the beginning."""
        return self._last.components

    def of_last(self, seconds: float) -> Mapping[str, Done]:
        """Return the work of each component in the last seconds, as far as it was observed.

        A run that has gone back in between counts again from there.
        """
        now = self._last
        if now.elapsed_s <= seconds and not now.attempt:
            return now.components
        marks = (*self._coarse, *self._fine)
        known = [mark for mark in marks if now.at_s - mark.at_s <= seconds and mark.attempt == now.attempt]
        earliest = min(known, key=lambda mark: mark.at_s, default=now)
        return {id: done.since(earliest.components.get(id, Done())) for id, done in now.components.items()}

    def _done(self, before: Done, now: ComponentSnapshot) -> Done:
        busy_s, waited_s, times = before.busy_s, before.waited_s, before.times
        for task in now.tasks:
            earlier = self._tasks.get(task.id)
            busy_s += task.worked_since(earlier)
            waited_s += task.waited_since(earlier)
            times = added((times, task.times_since(earlier)))
        return Done(now.emitted, now.processed, now.acked, now.failed, busy_s, times, waited_s)
