"""How often the time of live sources goes on while they have nothing to say, and that of awaited repeats."""

from __future__ import annotations

import time
from collections.abc import Sequence

from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.source_task import SourceTask

FIRST_PAUSE_S = 0.0001
"""Shortest time between two words of theirs while nothing moves; twice as long each time, up to a bound."""
LONGEST_PAUSE_S = 0.05


class LiveTime:
    """Passes the time of an executor's sources: at once for who waits, ever less often while nothing moves.

    Each of their words wakes the consumers, and what these make of it comes back as news. Without a
    pause two executors that have nothing to do would wake each other for ever.
    """

    def __init__(self, spouts: Sequence[SourceTask], bolts: Sequence[BoltTask]) -> None:
        self._spouts = tuple(spouts)
        self._bolts = tuple(bolts)
        self._pause_s = 0.0
        self._again_at = 0.0

    def something_moved(self) -> None:
        """A task has emitted or processed tuples, so somebody may soon wait for these sources."""
        self._pause_s = self._again_at = 0.0

    def look(self) -> None:
        """Let time go on if it is long enough since it did, or a bolt has input that is held back."""
        if time.monotonic() >= self._again_at or any(bolt.waits_with_input for bolt in self._bolts):
            self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
            self.go_on()

    def go_on(self) -> None:
        """Let time go on now."""
        self._again_at = time.monotonic() + self._pause_s
        for spout in self._spouts:
            if not spout.running and not spout.finished:
                spout.pass_time()
