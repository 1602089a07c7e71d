"""Publishes the passing of time for spouts that emit nothing at present.

Live spouts go by the wall clock, and spouts that wait for acks pass the time at which they would emit again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.source_task import SourceTask

FIRST_PAUSE_S = 0.0001
"""Shortest pause in seconds between two heartbeats while no tuple moves; it doubles with each of them."""
LONGEST_PAUSE_S = 0.05
"""Longest such pause in seconds."""


class LiveTime:
    """Has an executor's spouts send heartbeats: at once if a bolt waits for one, else ever less often.

    A spout's heartbeat wakes its consumers, whose own heartbeats may come back in turn. Without growing
    pauses two executors that have nothing to do would wake each other for ever.

    Args:
        spouts: the executor's spout tasks.
        bolts: the executor's bolt tasks.
        is_in_callback: tells whether a spout is being called right now, and must be left alone.
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
        """Note that a task has emitted or processed tuples, so that a bolt may soon wait for these spouts."""
        self._pause_s = self._again_at = 0.0

    def look(self) -> None:
        """Send heartbeats if the pause is over, or if a bolt has input that is held back."""
        if time.monotonic() >= self._again_at or any(bolt.waits_with_input for bolt in self._bolts):
            self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
            self.go_on()

    def go_on(self) -> None:
        """Send heartbeats now."""
        self._again_at = time.monotonic() + self._pause_s
        for spout in self._spouts:
            if not spout.is_finished and not self._is_in_callback(spout):
                spout.pass_time()
