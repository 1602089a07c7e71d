"""Who speaks for tasks whose threads are away in callbacks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from framework.runtime.control.stop import StopSignal
from framework.runtime.tasks.task import Task

PERIOD_S = 0.001
"""Seconds between two looks: how much longer than usual something may wait in a task whose thread is away."""
LONGEST_PAUSE_S = 0.05
"""As long as nothing happens, the pause between two looks doubles up to here."""


class Speaker(threading.Thread):
    """Speaks for tasks whose own threads are away, soon after it is called and now and then.

    Args:
        tasks: the tasks.
        on_failure: called when that fails, as the task may never be back to be told.
    """

    def __init__(self, tasks: Sequence[Task], on_failure: Callable[[], None]) -> None:
        super().__init__(name="viper-speaker", daemon=True)
        self._tasks = tasks
        self._on_failure = on_failure
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
                pause_s = PERIOD_S if was_busy else min(2 * pause_s, LONGEST_PAUSE_S)
        except Exception as error:
            self.failure = error
            self._on_failure()

    def _waited(self, pause_s: float) -> bool:
        """Whether it is over; not before a period, so that tuples gather, and after a pause at the latest."""
        if pause_s > PERIOD_S:
            self._called.wait(pause_s - PERIOD_S)
        is_over = self._over.wait(PERIOD_S)
        self._called.clear()  # before looking: who calls from now on is looked after the next time
        return is_over


@contextmanager
def speaking_for(tasks: Sequence[Task], stop: StopSignal) -> Iterator[None]:
    """For as long as the block runs, another thread speaks for tasks whose own are away.

    Args:
        tasks: the tasks.
        stop: aborted when that fails.

    Raises:
        ComponentError: what one of them has emitted cannot be; nothing else has failed.
    """
    if not tasks:
        yield
        return
    speaker = Speaker(tasks, stop.abort)
    for task in tasks:
        task.slot.presence.call_stand_in_by(speaker.call)
    speaker.start()
    try:
        yield
    finally:
        speaker.end()
    if speaker.failure is not None:
        raise speaker.failure
