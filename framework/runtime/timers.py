"""What the wall clock makes due: ticks, and batches of bolts with a timer of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from framework.runtime.bolt_task import BoltTask
from framework.runtime.ticks import WallTimer


class Timers:
    """All wall-clock timers of a worker."""

    def __init__(self) -> None:
        self._timers: list[tuple[WallTimer, BoltTask, Callable[[], None]]] = []

    def add(self, timer: WallTimer, owner: BoltTask, callback: Callable[[], None]) -> None:
        """Have a task's callback called whenever a timer fires."""
        self._timers.append((timer, owner, callback))

    def due(self, now_s: float) -> Iterator[tuple[BoltTask, Callable[[], None]]]:
        """What is due now, of tasks that are neither in a callback nor at their end."""
        for timer, owner, callback in self._timers:
            if not owner.running and not owner.ending and timer.fires(now_s):
                yield owner, callback

    def next_due(self) -> float:
        """Monotonic time in seconds at which the next one is due; infinite if there is none."""
        return min((timer.due_at for timer, owner, _ in self._timers if not owner.ending), default=float("inf"))
