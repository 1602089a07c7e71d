"""The thread that acts for a task while its own is away in a callback that blocks.

Output from before the callback blocked must not wait for its return. Tasks that merge this task's tuples with
others' must not wait for its progress either. The task's own thread can do neither meanwhile.
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
    """True if the task's thread may be away."""
    is_left = False
    """True if the task has been ended without its thread, which nobody waits for any more."""

    def away(self, call: Callable[..., T], *args: Any) -> T:
        """Call back into the component."""
        return call(*args)

    def wrap(self, call: Callable[..., T]) -> Callable[..., T]:
        """A callable that calls back into the component as `away` does."""
        return call

    def back(self, call: Callable[[], T]) -> T:
        """Do something with the task's output that may be in the middle of a callback."""
        return call()

    def stand_in(self, call: Callable[[], None]) -> None:
        """Do something in the task's place if its thread is away."""

    def leave(self, end: Callable[[], None]) -> None:
        """End the task in place of its thread, if that is away: the thread is stopped when it comes back."""

    def call_if_away(self) -> bool:
        """Call who acts for the task if its thread is away; whether it is."""
        return False

    def call_stand_in_by(self, call: Callable[[], None]) -> None:
        """Say what to call when there is something to do in the task's place."""


class BlockingPresence(Presence):
    """The presence of a task with a thread of its own, which may be away for long.

    Whoever holds the lock may use the task's output: its own thread, but for the time that it is away.

    Args:
        leaves_work: whether there is something to do in the task's place, now that its thread goes away.
    """

    is_blocking = True

    def __init__(self, leaves_work: Callable[[], bool]) -> None:
        self._leaves_work = leaves_work
        self._present = threading.Lock()
        self._present.acquire()
        self._is_away = False
        self._call_stand_in: Callable[[], None] = lambda: None

    def away(self, call: Callable[..., T], *args: Any) -> T:
        """Call back into the component, and let another thread act for the task meanwhile."""
        self._is_away = True
        work_is_left = self._leaves_work()
        self._present.release()
        if work_is_left:
            self._call_stand_in()
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

    def stand_in(self, call: Callable[[], None]) -> None:
        """Do something in the task's place if its thread is away."""
        if self._present.acquire(blocking=False):
            try:
                call()
            finally:
                self._present.release()

    def call_if_away(self) -> bool:
        """Call who acts for the task if its thread is away; whether it is."""
        if self._is_away:
            self._call_stand_in()
        return self._is_away

    def leave(self, end: Callable[[], None]) -> None:
        """End the task in place of its thread, if that is away: the thread is stopped when it comes back."""
        if self._present.acquire(blocking=False):
            try:
                self.is_left = True
                end()
            finally:
                self._present.release()

    def call_stand_in_by(self, call: Callable[[], None]) -> None:
        """Say what to call when there is something to do in the task's place."""
        self._call_stand_in = call

    def _stop_if_left(self) -> None:
        if self.is_left:
            raise TaskStopped
