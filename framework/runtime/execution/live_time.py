"""How often live sources publish how far time is while they bring nothing, and sources that await answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.source_task import SourceTask

FIRST_PAUSE_S = 0.0001
"""Shortest time between two heartbeats while nothing moves; twice as long each time, up to a bound."""
LONGEST_PAUSE_S = 0.05


class LiveTime:
    """Passes the time of an executor's sources: at once if a bolt waits for it, ever less often while nothing
    moves.

    Each heartbeat of theirs wakes the consumers, whose own heartbeats come back in turn. Without a pause two
    executors that have nothing to do would wake each other for ever.

    Args:
        spouts: the sources.
        bolts: the executor's other tasks.
        is_in_callback: whether a source is being called right now, and must be left alone.
    """

    def __init__(
        self,
        spouts: Sequence[SourceTask],
        bolts: Sequence[BoltTask],
        is_in_callback: Callable[[SourceTask], bool],
    ) -> None:
        self._spouts = tuple(spouts)
        self._is_in_callback = is_in_callback
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
            if not spout.is_finished and not self._is_in_callback(spout):
                spout.pass_time()
