"""Looks after a run from outside its callbacks, which may not return."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from framework.runtime.control.stop import StopReason, StopSignal
from framework.runtime.tasks.context import TaskStopped

PERIOD_S = 0.25
"""Seconds between two looks."""


@contextmanager
def looked_after(
    stop: StopSignal, duration_s: float | None, drain_timeout_s: float, in_callback: Callable[[], bool]
) -> Iterator[None]:
    """For as long as the block runs, have the end come in time although a callback does not return.

    A turn's end is where a run looks whether its time is up. A callback that sleeps or waits for
    a network never gets there, so a timer signal looks too: it asks for the end when the duration
    is up, and when the time to drain is up as well, or some other part of the run has failed, the
    callback is left by `TaskStopped`.

    Only the main thread of a process can do so, where there are such signals.

    Args:
        stop: what asks the run to drain.
        duration_s: seconds from now after which it shall drain; None for no such end.
        drain_timeout_s: seconds after which a drain is given up.
        in_callback: whether a component is being called right now.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    ends_at = None if duration_s is None else time.monotonic() + duration_s

    def look(number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if ends_at is not None and now >= ends_at:
            stop.request(StopReason.DURATION)
        # The worker itself gives up at the end of the time; a period later it is clear that it cannot.
        left_s = 0.0 if stop.aborted else drain_timeout_s
        if stop.at_s is not None and now - stop.at_s > left_s + PERIOD_S and in_callback():
            raise TaskStopped

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, PERIOD_S, PERIOD_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
