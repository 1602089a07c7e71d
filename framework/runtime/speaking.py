"""Who speaks for tasks whose threads are away in callbacks."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from framework.runtime.blocking_tasks import BlockingTask
from framework.runtime.stop import StopSignal

PERIOD_S = 0.005
"""Seconds between two looks: how much longer than usual something may wait in a task whose thread is away."""


@contextmanager
def speaking_for(tasks: Sequence[BlockingTask], stop: StopSignal) -> Iterator[None]:
    """For as long as the block runs, another thread speaks for tasks whose own are away.

    Args:
        tasks: the tasks.
        stop: aborted when that fails, as the task may never be back to be told.

    Raises:
        ComponentError: what one of them has emitted cannot be; nothing else has failed.
    """
    if not tasks:
        yield
        return
    over = threading.Event()
    failures: list[Exception] = []

    def speak() -> None:
        try:
            while not over.wait(PERIOD_S):
                for task in tasks:
                    task.speak()
        except Exception as error:
            failures.append(error)
            stop.abort()

    speaking = threading.Thread(target=speak, name="viper-speaker", daemon=True)
    speaking.start()
    try:
        yield
    finally:
        over.set()
        speaking.join()
    if failures:
        raise failures[0]
