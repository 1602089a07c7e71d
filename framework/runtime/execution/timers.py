"""What the wall clock makes due: ticks, and batches of bolts with a timer of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from framework.runtime.positions.ticks import WallTimer
from framework.runtime.tasks.bolt_task import BoltTask


class Timers:
    """All wall-clock timers of a worker."""

    def __init__(self) -> None:
        self._timers: list[tuple[WallTimer, BoltTask, Callable[[], None]]] = []

    def add(self, timer: WallTimer, owner: BoltTask, callback: Callable[[], None]) -> None:
        """Have a task's callback called whenever a timer fires."""
        self._timers.append((timer, owner, callback))

    def due(self, now_s: float) -> Iterator[tuple[BoltTask, Callable[[], None]]]:
        """What is due now, of the tasks that can be called now."""
        for timer, owner, callback in self._timers:
            if _can_be_called(owner) and timer.fires(now_s):
                yield owner, callback

    def next_due(self) -> float:
        """Monotonic time in seconds at which the next one is due; infinite if there is none."""
        return min(
            (timer.due_at for timer, owner, _ in self._timers if _can_be_called(owner)), default=float("inf")
        )


def _can_be_called(owner: BoltTask) -> bool:
    """Whether a task is neither in a callback, nor out of room, nor at its end."""
    return not (owner.running or owner.blocked or owner.ending)
