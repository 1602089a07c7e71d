"""Looks at a run from a thread of its own, as the thread that leads the run may be away in a callback."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PERIOD_S = 0.1
"""Seconds between two looks at what changes by itself, such as the progress of a run."""
LONGEST_PAUSE_S = 1e6
"""Longest pause in seconds between two looks, which a thread can wait for on any system."""
LAST_LOOK_S = 1.0
"""Seconds that a look may still take when the run has ended. Nobody may be reading the pipe it writes to."""


class Observer:
    """Calls a function again and again during a run.

    The function reads data that other threads are writing, and takes no lock that they would have to wait
    for. That is safe for all that a run lets it read:

    - Counters are integers, and one thread each counts them up. Python replaces such an attribute as a whole,
      so a reader sees the old value or the new one. Two counters may be of different moments.
    - Mappings that grow meanwhile (the executors of a worker, a task's reasons) are replaced as a whole, or
      are copied as a whole before they are gone through.
    - Channels count in shared memory by atomic operations.
    - A stop is asked for by `StopSignal.request`, which may be called from anywhere.

    Nothing is sent to worker processes from here, because the thread that leads them also closes their pipes.

    Args:
        look: called with the monotonic time in seconds; returns after how many seconds it is to be called
            again.
        on_failure: called when that raises; the exception is raised again where the block ends.
    """

    def __init__(self, look: Callable[[float], float], on_failure: Callable[[], None]) -> None:
        self._look = look
        self._on_failure = on_failure
        self._over = threading.Event()
        self._failure: Exception | None = None

    @contextmanager
    def observing(self) -> Iterator[None]:
        """For as long as the block runs, look.

        Raises:
            Exception: what a look has raised, where the block itself raises nothing.
        """
        thread = threading.Thread(target=self._run, name="viper-observer", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join(LAST_LOOK_S)
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            pause_s = PERIOD_S
            while not self._over.wait(pause_s):
                pause_s = self._look(time.monotonic())
        except Exception as error:
            self._failure = error
            self._on_failure()
