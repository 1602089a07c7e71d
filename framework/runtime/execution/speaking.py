"""A thread that does the work of blocking tasks while their own threads are away in callbacks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from framework.runtime.control.stop import StopSignal
from framework.runtime.tasks.task import Task

PERIOD_S = 0.001
"""Seconds between two looks; a tuple of a task whose thread is away may wait so much longer than usual."""
LONGEST_PAUSE_S = 0.05
"""As long as nothing happens, the pause between two looks doubles up to here."""
LEAVE_AFTER_S = 0.5
"""Seconds by which the alarm, which can interrupt the main thread, goes before in ending a wait."""


class Speaker(threading.Thread):
    """Looks after tasks whose own threads are away, soon after it is called and now and then.

    It hands on what they have emitted, tells how far they are, and ends those that only wait for input
    although the run is to stop.

    Args:
        tasks: the tasks.
        on_failure: called when that fails, as the task's own thread may never come back to be told.
        stopped_at_s: gives the monotonic time in seconds at which the run was asked to stop, None before.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        on_failure: Callable[[], None],
        stopped_at_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        super().__init__(name="viper-speaker", daemon=True)
        self._tasks = tasks
        self._on_failure = on_failure
        self._stopped_at_s = stopped_at_s
        self._called = threading.Event()
        self._over = threading.Event()
        self.failure: Exception | None = None

    def call(self) -> None:
        """Have it look within a period."""
        if not self._called.is_set():
            self._called.set()

    def end(self) -> None:
        """Have it look no more."""
        self._over.set()
        self._called.set()
        self.join()

    def run(self) -> None:
        """Look until the end."""
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
        """Whether it is over; not before a period, so that tuples gather, and after a pause at the latest."""
        if pause_s > PERIOD_S:
            self._called.wait(pause_s - PERIOD_S)
        is_over = self._over.wait(PERIOD_S)
        self._called.clear()  # before looking, so that a call from now on is heard the next time
        return is_over


@contextmanager
def speaking_for(tasks: Sequence[Task], stop: StopSignal) -> Iterator[None]:
    """For as long as the block runs, another thread looks after tasks whose own threads are away.

    Args:
        tasks: the tasks.
        stop: says when the run is to stop; aborted when the other thread fails.

    Raises:
        ComponentError: something that one of them has emitted cannot be emitted, and nothing else has failed.
    """
    if not tasks:
        yield
        return
    speaker = Speaker(tasks, stop.abort, lambda: stop.at_s)
    for task in tasks:
        task.slot.presence.call_stand_in_by(speaker.call)
    speaker.start()
    try:
        yield
    finally:
        speaker.end()
    if speaker.failure is not None:
        raise speaker.failure
