"""The stand-in: a thread that does the work of blocking tasks while their own threads are in callbacks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from framework.runtime.control.stop import StopSignal
from framework.runtime.tasks.task import Task

PERIOD_S = 0.001
"""Shortest pause in seconds between two looks; a tuple that a callback emits may wait that long."""
LONGEST_PAUSE_S = 0.05
"""Longest pause in seconds between two looks; pauses double up to it while nothing happens."""
LEAVE_AFTER_S = 0.5
"""Seconds after the run was stopped at which spouts that still wait for input are ended from here. The alarm,
which can interrupt the main thread, has ended those of that thread before."""


class StandIn(threading.Thread):
    """Does the work of tasks whose own threads are in callbacks, soon after it is called and now and then.

    It hands on what those tasks have emitted, sends their heartbeats, and ends those that only wait for input
    although the run is to stop.

    Args:
        tasks: the blocking tasks of a process.
        on_failure: called when something fails here, because the task's own thread may never return.
        stopped_at_s: returns the monotonic time in seconds at which the run was asked to stop; None before.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        on_failure: Callable[[], None],
        stopped_at_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        super().__init__(name="viper-stand-in", daemon=True)
        self._tasks = tasks
        self._on_failure = on_failure
        self._stopped_at_s = stopped_at_s
        self._called = threading.Event()
        self._over = threading.Event()
        self.failure: Exception | None = None

    def call(self) -> None:
        """Have the thread look after the tasks within `PERIOD_S`."""
        if not self._called.is_set():
            self._called.set()

    def end(self) -> None:
        """End the thread, and wait until it has ended."""
        self._over.set()
        self._called.set()
        self.join()

    def run(self) -> None:
        """Look after the tasks until `end` is called; the thread executes this."""
        try:
            pause_s = PERIOD_S
            while not self._waited(pause_s):
                was_busy = any([task.stand_in() for task in self._tasks])
                self._leave_those_that_wait()
                pause_s = PERIOD_S if was_busy else min(2 * pause_s, LONGEST_PAUSE_S)
        except Exception as error:
            self.failure = error
            self._on_failure()

    def _leave_those_that_wait(self) -> None:
        stopped_at_s = self._stopped_at_s()
        if stopped_at_s is not None:
            for task in self._tasks:
                task.leave(stopped_at_s + LEAVE_AFTER_S)

    def _waited(self, pause_s: float) -> bool:
        """Wait until the thread is called or the pause is over, and return whether the thread is to end.

        It waits for a period at least, so that tuples gather.
        """
        if pause_s > PERIOD_S:
            self._called.wait(pause_s - PERIOD_S)
        is_over = self._over.wait(PERIOD_S)
        self._called.clear()  # before looking, so that a call from now on counts for the next time
        return is_over


@contextmanager
def standing_in(tasks: Sequence[Task], stop: StopSignal) -> Iterator[None]:
    """While the block runs, have another thread do the work of tasks whose own threads are in callbacks.

    Args:
        tasks: the blocking tasks of this process.
        stop: tells when the run is to stop; it is aborted if the other thread fails.

    Raises:
        ComponentError: a task has emitted something that cannot be routed, and nothing else has failed.
    """
    if not tasks:
        yield
        return
    stand_in = StandIn(tasks, stop.abort, lambda: stop.at_s)
    for task in tasks:
        task.slot.presence.call_stand_in_by(stand_in.call)
    stand_in.start()
    try:
        yield
    finally:
        stand_in.end()
    if stand_in.failure is not None:
        raise stand_in.failure
