"""Has a run end in time although a callback does not return."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from framework.runtime.control.signals import called_every
from framework.runtime.control.stop import DrainDeadline, StopReason, StopSignal
from framework.runtime.tasks.context import TaskStopped

PERIOD_S = 0.25
"""Seconds between two looks."""


@contextmanager
def ending_in_time(
    stop: StopSignal, deadline: DrainDeadline, duration_s: float | None, in_callback: Callable[[], bool]
) -> Iterator[None]:
    """For as long as the block runs, look now and then whether the time is up.

    A run looks at the clock between two callbacks. A callback that sleeps or waits for a network does not
    return for long, so a timer looks, too. It asks for the end when the duration is over. When the time to
    drain is up as well, or another part of the run has failed, it makes the callback raise `TaskStopped`.

    Only the main thread of a process can do so, where the system has such timers.

    Args:
        stop: asks the run to drain.
        deadline: when a drain is given up.
        duration_s: seconds from now after which the run is to drain; None for no such end.
        in_callback: whether a component is being called right now.
    """
    ends_at = None if duration_s is None else time.monotonic() + duration_s

    def look() -> None:
        now = time.monotonic()
        if ends_at is not None and now >= ends_at:
            stop.request(StopReason.DURATION)
        # The executor itself gives up when the time is over; a period later it is clear that it cannot.
        if deadline.is_past(now, PERIOD_S) and in_callback():
            raise TaskStopped

    with called_every(PERIOD_S, look):
        yield
