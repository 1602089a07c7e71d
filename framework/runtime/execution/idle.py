"""The idle time of an executor: how it waits while no task is runnable, and how exactly it is woken."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import time
from collections.abc import Iterable, Iterator

from framework.runtime.coordination.stop import StopSignal
from framework.runtime.execution.accounting import BusyTimes
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import Task
from viper.bell import Bell


class IdleStrategy:
    """Waits for some time, or until the run is asked to stop; that is enough for a run with one executor."""

    def __init__(self, stop: StopSignal) -> None:
        self._stop = stop

    def begin_look(self) -> bool:
        """Note that the executor looks for runnable tasks now.

        Returns:
            True if other executors may have made tasks runnable since the last look.
        """
        return False

    def wait(self, timeout_s: float) -> None:
        """Wait until a task may be runnable, for at most `timeout_s` seconds."""
        self._stop.wait(timeout_s)

    def wake(self) -> None:
        """End the present wait, or the next one; from any thread."""
        self._stop.wake()

    def let_go(self) -> None:
        """Have no request wake anybody any more, as the run has ended; who asks may ask other runs, too."""


class BellIdleStrategy(IdleStrategy):
    """Waits until the executor's bell is rung, by another executor or because the run is asked to stop.

    A bell that is rung after `begin_look` ends the following wait at once, so no ring is slept through.

    Args:
        stop: rings the bell when the run is asked to stop.
        bell: the executor's.
    """

    def __init__(self, stop: StopSignal, bell: Bell) -> None:
        super().__init__(stop)
        self._bell = bell
        self._ticket: int | None = None
        stop.listen(bell.ring)

    def begin_look(self) -> bool:
        """Take a ticket of the bell; return whether it was rung since the last one was taken."""
        before, self._ticket = self._ticket, self._bell.ticket()
        return self._ticket != before

    def wait(self, timeout_s: float) -> None:
        """Wait until the bell has been rung since `begin_look`, for at most `timeout_s` seconds."""
        if self._ticket is not None:
            self._bell.wait(self._ticket, timeout_s)

    def wake(self) -> None:
        """End the present wait, or the next one; from any thread."""
        self._bell.ring()

    def let_go(self) -> None:
        """As in the base class."""
        self._stop.unlisten(self._bell.ring)


_SET, _GET = 29, 30
"""PR_SET_TIMERSLACK and PR_GET_TIMERSLACK of prctl."""
EXACT_NS = 1_000
"""Nanoseconds by which the kernel may put off a timer of an executor's thread. By default it is 50,000, so
that a spout that pauses for 20 us is asked again after 70 and more."""


@contextlib.contextmanager
def exact_timers() -> Iterator[None]:
    """While the block runs, have timers of the calling thread wake it in time.

    Threads that it starts meanwhile inherit that. There is no effect on systems that know no such thing.
    """
    before = _prctl(_GET, 0)
    if before <= EXACT_NS:
        yield
        return
    _prctl(_SET, EXACT_NS)
    try:
        yield
    finally:
        _prctl(_SET, before)


@functools.cache
def _libc() -> ctypes.CDLL:
    """The C library of this process, once: what `ctypes` makes of it refers to itself."""
    return ctypes.CDLL(None)


def _prctl(option: int, value: int) -> int:
    """The system call for the calling thread; -1 where it does not exist or fails."""
    if sys.platform != "linux":
        return -1
    return int(_libc().prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))))


class Rests:
    """Rests by an idle strategy, and keeps count.

    Args:
        idle: waits.
        busy: hears when the executor rests.
    """

    def __init__(self, idle: IdleStrategy, busy: BusyTimes) -> None:
        self.count = 0
        """The number of rests so far."""
        self.seconds = 0.0
        """Their duration, all together."""
        self._idle = idle
        self._busy = busy

    def until(self, until_s: float) -> bool:
        """Rest until a monotonic time in seconds; whether nothing has ended the rest before."""
        began_s = time.monotonic()
        if until_s <= began_s:
            return False
        self._busy.rest(began_s)
        self._idle.wait(until_s - began_s)
        woke_s = time.monotonic()
        self._busy.wake(woke_s)
        self.count += 1
        self.seconds += woke_s - began_s
        return woke_s >= until_s


def first_asked(tasks: Iterable[Task]) -> SourceTask | None:
    """Of tasks that have nothing to do, the source that is asked again first; None without any."""
    sources = [task for task in tasks if isinstance(task, SourceTask)]
    return min(sources, key=lambda source: source.wake_at_s, default=None)
