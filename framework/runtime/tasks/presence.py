"""Who acts for a task while its own thread is away in a callback that blocks.

What was emitted before the callback blocked is not to wait for its return, nor are those who merge this
task's tuples with others' to wait to hear how far it is. The task's own thread can do neither meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from framework.runtime.tasks.context import TaskStopped

T = TypeVar("T")


class Presence:
    """The presence of a task whose callbacks do not block: its own thread is always there."""

    is_blocking = False
    """Whether the task's thread may be away."""
    is_left = False
    """Whether the task has been ended without its thread, which nobody waits for any more."""

    def away(self, call: Callable[..., T], *args: Any) -> T:
        """Call back into the component."""
        return call(*args)

    def wrap(self, call: Callable[..., T]) -> Callable[..., T]:
        """A callable that calls back into the component as `away` does."""
        return call

    def back(self, call: Callable[[], T]) -> T:
        """Do something with the task's output that may be in the middle of a callback."""
        return call()

    def stand_in(self, call: Callable[[], None]) -> bool:
        """Do something in the task's place if its thread is away; whether it has been lately."""
        return False

    def leave(self, end: Callable[[], None]) -> None:
        """End the task in place of its thread, if that is away: the thread is stopped when it comes back."""

    def call_stand_in_by(self, call: Callable[[], None]) -> None:
        """Say what to call when rows wait and the task's thread goes away."""


class BlockingPresence(Presence):
    """The presence of a task with a thread of its own, which may be away for long.

    Whoever holds the lock may use the task's output: its own thread, but for the time that it is away.

    Args:
        rows_wait: whether there are rows that have not been sent off.
    """

    is_blocking = True

    def __init__(self, rows_wait: Callable[[], bool]) -> None:
        self._rows_wait = rows_wait
        self._present = threading.Lock()
        self._present.acquire()
        self._is_away = False
        self._times_away = self._times_seen = 0
        self._call_stand_in: Callable[[], None] = lambda: None

    def away(self, call: Callable[..., T], *args: Any) -> T:
        """Call back into the component, and let another thread act for the task meanwhile."""
        self._is_away = True
        self._times_away += 1
        if self._rows_wait():
            self._call_stand_in()
        self._present.release()
        try:
            return call(*args)
        finally:
            self._present.acquire()
            self._is_away = False
            self._stop_if_left()

    def wrap(self, call: Callable[..., T]) -> Callable[..., T]:
        """A callable that calls back into the component as `away` does."""

        def call_away(*args: Any) -> T:
            return self.away(call, *args)

        return call_away

    def back(self, call: Callable[[], T]) -> T:
        """Do something with the task's output that may be in the middle of a callback."""
        if not self._is_away:
            return call()
        with self._present:
            self._stop_if_left()
            self._is_away = False  # as what is done here may in turn come by here
            try:
                return call()
            finally:
                self._is_away = True

    def stand_in(self, call: Callable[[], None]) -> bool:
        """Do something in the task's place if its thread is away; whether it has been lately."""
        was_busy, self._times_seen = self._times_away != self._times_seen, self._times_away
        if self._present.acquire(blocking=False):
            try:
                was_busy = was_busy or self._rows_wait()
                call()
            finally:
                self._present.release()
        return was_busy

    def leave(self, end: Callable[[], None]) -> None:
        """End the task in place of its thread, if that is away: the thread is stopped when it comes back."""
        if self._present.acquire(blocking=False):
            try:
                self.is_left = True
                end()
            finally:
                self._present.release()

    def call_stand_in_by(self, call: Callable[[], None]) -> None:
        """Say what to call when rows wait and the task's thread goes away."""
        self._call_stand_in = call

    def _stop_if_left(self) -> None:
        if self.is_left:
            raise TaskStopped
