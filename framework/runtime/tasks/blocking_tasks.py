"""Tasks of components that block: while their thread is away in a callback, another one speaks for them.

What was emitted before the callback blocked is not to wait for its return, nor are those who merge
this task's tuples with others' to wait for a word of how far it is. Its own thread can do neither then.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from framework.runtime.edges.destination import Row
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.spout_task import SpoutTask
from framework.runtime.tasks.task import RunningTask, TaskStopped

T = TypeVar("T")

WAITED_S = 0.00005
"""Seconds of a call for a tuple from which on it is taken to have waited: a few times what a call costs."""


class BlockingTask(RunningTask):
    """Runs one task on a thread of its own.

    All that is done with the task's output is done by who holds `_present`: its own thread, but for
    the time that it is away.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._present = threading.Lock()
        self._present.acquire()
        self._is_away = False
        self._times_away = self._times_seen = 0
        self.call_speaker: Callable[[], None] = lambda: None
        """Has another thread speak soon."""

    @abstractmethod
    def _go_on(self) -> None:
        """Let what was emitted flow, and tell the consumers how far the task is."""

    def leave(self, stopped_at_s: float) -> None:
        """Go on to its end without its thread, if that waits for what the run can do without.

        To be called by another thread, again and again, once the run is to stop.

        Args:
            stopped_at_s: monotonic time in seconds at which the stop was asked for.

        Raises:
            ComponentError: what was emitted cannot be.
        """

    def speak(self) -> bool:
        """Do what its thread would, if that is away; to be called by another one.

        Returns:
            Whether anything has happened here since the last time.

        Raises:
            ComponentError: what was emitted cannot be.
        """
        was_busy, self._times_seen = self._times_away != self._times_seen, self._times_away
        if self._present.acquire(blocking=False):
            try:
                was_busy = was_busy or self.blocked or len(self.collector.outbox) > 0
                self._go_on()
            finally:
                self._present.release()
        return was_busy

    def _away(self, call: Callable[..., T], *args: Any) -> T:
        """Call back, and let another thread speak meanwhile."""
        self._is_away = True
        self._times_away += 1
        if len(self.collector.outbox):
            self.call_speaker()
        self._present.release()
        try:
            return call(*args)
        finally:
            self._present.acquire()
            self._is_away = False
            self._stop_if_left()

    def _back(self, call: Callable[[], T]) -> T:
        """Do something that may be in the middle of a callback."""
        if not self._is_away:
            return call()
        with self._present:
            self._stop_if_left()
            self._is_away = False  # as what is done here may in turn come by here
            try:
                return call()
            finally:
                self._is_away = True

    def _stop_if_left(self) -> None:
        if self.left_behind:  # while it was away; nobody wants to hear from it any more
            raise TaskStopped

    def _spill(self) -> None:
        self._back(super()._spill)

    def _place_and_tell(self) -> list[int]:
        return self._back(super()._place_and_tell)


class BlockingSpoutTask(BlockingTask, SpoutTask):
    """Runs one task of a spout that blocks."""

    def _go_on(self) -> None:
        self._place_outputs()
        self.unblock()
        self.publish(self._clock.frontier())

    def leave(self, stopped_at_s: float) -> None:
        """As in the base class; what it has emitted is handed on, what it has not brought is left out."""
        if self.finished or not (self.left_behind or self.is_left_waiting(stopped_at_s)):
            return
        if not self._present.acquire(blocking=False):
            return
        try:
            if not self.left_behind:
                self.left_behind = self.ending = self._exhausted = True
                self._abandon()
                self._place_outputs()
                self.last_us = self._clock.frontier().ts
            self.finished = self.tell_end()
            if self.finished and self.recorder is not None:
                self.recorder.close()
                self.recorder = None
        finally:
            self._present.release()

    def _ask(self, call: Callable[..., T], *args: Any) -> T:
        """Call back for a tuple. Who had to wait for it will wait for the next, too, so it goes at once."""
        began = time.monotonic()
        answer = self._away(call, *args)
        if time.monotonic() - began > WAITED_S:
            self._slice_end = 0.0
        return answer

    @property
    def _next_tuple(self) -> Callable[[], None]:
        return partial(self._ask, super()._next_tuple)

    def _draw(self, generator: Iterator[Any], count: int) -> None:
        super()._draw(self._drawn(generator), count)

    def _drawn(self, generator: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while (values := self._ask(next, generator, end)) is not end:
            yield values


class BlockingBoltTask(BlockingTask, BoltTask):
    """Runs one task of a bolt that blocks; its collector is guarded."""

    def _begin(self) -> None:
        super()._begin()
        self._process_tuple = partial(self._away, self._process_tuple)

    def _go_on(self) -> None:
        self._place_outputs()
        self.unblock()
        self.publish(self._lineage.current)

    def _take_placed(self) -> tuple[list[Row], bytes | None, bool]:
        # Rows and marks must be of the same moment, and the component may be emitting just now.
        with self.collector.guard:
            return super()._take_placed()
