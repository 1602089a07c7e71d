"""The stand-in: a thread that does the work of blocking tasks while their own threads are in callbacks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from framework.runtime.coordination.stop import StopSignal
from framework.runtime.tasks.task import Task
from viper.bell import Bell

PERIOD_S = 0.001
"""Shortest pause in seconds between two looks; a tuple that a callback emits may wait that long."""
LONGEST_WAIT_S = 1.0
"""Longest time in seconds that the thread waits to be called. Whatever it waits for calls it."""
ENDING_PERIOD_S = 0.05
"""Seconds between two looks, at least, once the run is to stop."""
LEAVE_AFTER_S = 0.5
"""Seconds after the run was stopped at which spouts that still wait for input are ended from here. The alarm,
which can interrupt the main thread, has ended those of that thread before."""


class StandIn(threading.Thread):
    """Does the work of tasks whose own threads are in callbacks, soon after it is called.

    It hands on what those tasks have emitted, sends their heartbeats, and ends those that only wait for input
    although the run is to stop. It is called when such a task emits or answers, and when a bolt's task goes
    into a callback; other executors call it by the bell when they need heartbeats.

    Args:
        tasks: the blocking tasks of a process.
        bell: wakes the thread.
        on_failure: called when something fails here, because the task's own thread may never return.
        stopped_at_s: returns the monotonic time in seconds at which the run was asked to stop; None before.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        bell: Bell,
        on_failure: Callable[[], None],
        stopped_at_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        super().__init__(name="viper-stand-in", daemon=True)
        self._tasks = tasks
        self._bell = bell
        self._ticket = bell.ticket()
        """Of the bell, taken before the last look: what was called for since then has not been done."""
        self._on_failure = on_failure
        self._stopped_at_s = stopped_at_s
        self._is_called = False
        self._over = threading.Event()
        self.failure: Exception | None = None

    def call(self) -> None:
        """Have the thread look after the tasks within `PERIOD_S`."""
        if not self._is_called:  # a callback may call thousands of times a second
            self._is_called = True
            self._bell.ring()

    def end(self) -> None:
        """End the thread, and wait until it has ended."""
        self._over.set()
        self._bell.ring()
        self.join()

    def run(self) -> None:
        """Look after the tasks until `end` is called; the thread executes this."""
        try:
            while not self._waited():
                self._ticket = self._bell.ticket()
                self._is_called = False  # before looking, so that a call from now on counts for the next time
                for task in self._tasks:
                    task.stand_in()
                self._leave_those_that_wait()
        except Exception as error:
            self.failure = error
            self._on_failure()

    def _leave_those_that_wait(self) -> None:
        stopped_at_s = self._stopped_at_s()
        if stopped_at_s is not None:
            for task in self._tasks:
                task.leave(stopped_at_s + LEAVE_AFTER_S)

    def _waited(self) -> bool:
        """Wait until the bell has been rung since the last look; return whether the thread is to end.

        It waits for a period at least, so that tuples gather.
        """
        if self._over.is_set():  # the ticket was taken before, so that from now on the end rings it awake
            return True
        is_ending = self._stopped_at_s() is not None
        self._bell.wait(self._ticket, ENDING_PERIOD_S if is_ending else LONGEST_WAIT_S)
        return self._over.wait(PERIOD_S)


@contextmanager
def standing_in(tasks: Sequence[Task], stop: StopSignal, bell: Bell) -> Iterator[None]:
    """While the block runs, have another thread do the work of tasks whose own threads are in callbacks.

    Args:
        tasks: the blocking tasks of this process.
        stop: says when the run is to stop; it is aborted if the other thread fails.
        bell: wakes the other thread.

    Raises:
        ComponentError: a task has emitted something that cannot be routed, and nothing else has failed.
    """
    if not tasks:
        yield
        return
    stand_in = StandIn(tasks, bell, stop.abort, lambda: stop.at_s)
    for task in tasks:
        task.slot.presence.call_stand_in_by(stand_in.call)
    stop.listen(bell.ring)
    stand_in.start()
    try:
        yield
    finally:
        stop.unlisten(bell.ring)
        stand_in.end()
    if stand_in.failure is not None:
        raise stand_in.failure
