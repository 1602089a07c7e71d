"""The rests of an executor, while none of its tasks is runnable."""

from __future__ import annotations

import time
from collections.abc import Iterable

from framework.runtime.execution.busy import BusyTimes
from framework.runtime.execution.idle import IdleStrategy
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import Task


class Rests:
    """Rests by an idle strategy, and keeps count.

    Args:
        idle: waits.
        busy: is told when the executor rests.
    """

    def __init__(self, idle: IdleStrategy, busy: BusyTimes) -> None:
        self.count = 0
        """How many there were."""
        self.seconds = 0.0
        """How long they were, all together."""
        self._idle = idle
        self._busy = busy

    def until(self, until_s: float) -> bool:
        """Rest until a monotonic time in seconds; whether nothing has ended the rest before."""
        began_s = time.monotonic()
        if until_s <= began_s:
            return False
        self._busy.rest(began_s)
        self._idle.wait(until_s - began_s)
        woke_s = time.monotonic()
        self._busy.wake(woke_s)
        self.count += 1
        self.seconds += woke_s - began_s
        return woke_s >= until_s


def first_asked(tasks: Iterable[Task]) -> SourceTask | None:
    """Of tasks that have nothing to do, the source that is asked again first; None without any."""
    sources = [task for task in tasks if isinstance(task, SourceTask)]
    return min(sources, key=lambda source: source.wake_at_s, default=None)
