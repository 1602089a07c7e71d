"""Time that passes when a test says so.

Storm calls this simulated time (``Testing.withSimulatedTimeLocalCluster``).
"""

from __future__ import annotations

import datetime
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from framework.runtime import StopSignal

_NANOS: Final = 1_000_000_000
BEGINNING: Final = datetime.datetime(2000, 1, 1, 0, 0, 0, 1000, tzinfo=datetime.UTC)
"""The time that a clock shows at first: a millisecond past midnight; windows of whole minutes just began."""


class VirtualClock:
    """A clock that stands still until a test moves it.

    While code runs `within` it, ``time.time``, ``time.monotonic``, their variants in nanoseconds and
    ``time.sleep`` go by it, for all modules that call them as attributes of `time`. ``datetime.now()`` and
    names that were imported by ``from time import ...`` before do not.

    Args:
        start: the time that it shows at first: a datetime with a time zone, or seconds since the epoch.

    Raises:
        ValueError: the datetime has no time zone.
    """

    def __init__(self, start: datetime.datetime | float = BEGINNING) -> None:
        if isinstance(start, datetime.datetime):
            if start.tzinfo is None:
                raise ValueError(f"{start!r} has no time zone: give one, such as tzinfo=datetime.UTC")
            start = start.timestamp()
        self._began_ns = round(start * _NANOS)
        self._elapsed_ns = 0
        self._lock = threading.Lock()

    @property
    def elapsed_s(self) -> float:
        """Seconds that have passed since it was made."""
        return self._elapsed_ns / _NANOS

    @property
    def now_s(self) -> float:
        """The time in seconds since the epoch."""
        return self._now_ns() / _NANOS

    @property
    def now(self) -> datetime.datetime:
        """The time as a datetime in UTC."""
        return datetime.datetime.fromtimestamp(self.now_s, datetime.UTC)

    def advance(self, seconds: float | datetime.timedelta) -> None:
        """Let time pass; at least a nanosecond, unless it is nothing.

        Args:
            seconds: how long, as a number of seconds or a timedelta.

        Raises:
            ValueError: it is negative or infinite; time never goes back.
        """
        if isinstance(seconds, datetime.timedelta):
            seconds = seconds.total_seconds()
        if not 0 <= seconds < math.inf:
            raise ValueError(f"found {seconds!r} seconds: expected 0 or more, as time never goes back")
        with self._lock:
            self._elapsed_ns += math.ceil(seconds * _NANOS)

    @contextmanager
    def within(self) -> Iterator[None]:
        """For as long as the block runs, let the module `time` go by this clock.

        The calling thread does not sleep; its sleep moves the clock. Other threads sleep as ever.
        """
        owner, sleep = threading.get_ident(), time.sleep

        def slept(seconds: float) -> None:
            if threading.get_ident() == owner:
                self.advance(seconds)
            else:
                sleep(seconds)

        virtual: dict[str, Callable[..., object]] = {
            "monotonic": lambda: self.elapsed_s,
            "monotonic_ns": lambda: self._elapsed_ns,
            "time": lambda: self.now_s,
            "time_ns": self._now_ns,
            "sleep": slept,
        }
        before = {name: getattr(time, name) for name in virtual}
        try:
            for name, function in virtual.items():
                setattr(time, name, function)
            yield
        finally:
            for name, function in before.items():
                setattr(time, name, function)

    def _now_ns(self) -> int:
        return self._began_ns + self._elapsed_ns


class VirtualWaits(StopSignal):
    """Moves a clock where an executor that has nothing to do would wait, so that nobody waits in earnest.

    Args:
        clock: that is moved.
    """

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock
        self.until_s: float | None = None
        """The limit to which waits may move the clock, in seconds passed on it; None for no limit."""
        self.is_over = False
        """True if a wait has found the clock at that limit: nothing is to be done before."""
        self._is_awaited: Callable[[], bool] = lambda: False

    def wait_in_earnest_while(self, is_awaited: Callable[[], bool]) -> None:
        """Set the function that tells whether something is awaited which happens at no time of the clock,
        such as the end of a coroutine. A wait then lasts until a wake."""
        self._is_awaited = is_awaited

    def wait(self, timeout_s: float) -> None:
        """Move the clock by so many seconds, but not over the limit, and not if a wake has come before."""
        if self._asleep.acquire(blocking=self._is_awaited()):
            return
        left_s = timeout_s if self.until_s is None else self.until_s - self._clock.elapsed_s
        if left_s <= 0:
            self.is_over = True
        else:
            self._clock.advance(min(timeout_s, left_s))
