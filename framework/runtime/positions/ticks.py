"""When a task's ticks are due: by event time, or by the wall clock."""

from __future__ import annotations

from collections.abc import Iterator

MICROS = 1_000_000
MOST_MISSED = 1000
"""Most ticks by the wall clock that a task catches up on at once."""


class EventTicks:
    """Ticks at the multiples of their period in event time.

    Between two inputs only the first ones are given, as many as the component can tell apart:
    a year replayed at one tick a second is not thirty million calls. Which ones these are does
    not depend on how far event time advances at once.
    """

    def __init__(self, period_s: float, noticeable: int) -> None:
        self._period = max(int(period_s * MICROS), 1)
        self._noticeable = noticeable
        self._since_input = 0
        self._next: int | None = None

    def due(self, until_us: int) -> Iterator[int]:
        """The times, in microseconds, of the ticks that come at or before a time."""
        if self._next is None:  # event time begins with the first tuple
            self._next = (until_us // self._period + 1) * self._period
        count = (until_us - self._next) // self._period + 1
        if count <= 0:
            return
        first, self._next = self._next, self._next + count * self._period
        given = min(count, self._noticeable - self._since_input)
        self._since_input += given
        for nth in range(given):
            yield first + nth * self._period

    def input_seen(self) -> None:
        """There was input after the ticks so far."""
        self._since_input = 0

    def next_boundary(self) -> int | None:
        """The time of the next tick, once event time has begun."""
        return self._next


class WallTimer:
    """Something due every so many seconds of the monotonic clock.

    Args:
        period_s: so many.
        now_s: monotonic time in seconds; it is due for the first time a period later.
    """

    def __init__(self, period_s: float, now_s: float) -> None:
        self._period_s = period_s
        self.due_at_s = now_s + period_s
        """Monotonic time in seconds at which it is due next."""

    def take_due(self, now_s: float) -> int:
        """How often it has become due since the last time, those that were missed included.

        Of a very short period not all are counted that were missed, or there would be no end of them.
        """
        if now_s < self.due_at_s:
            return 0
        missed = (now_s - self.due_at_s) / self._period_s
        if missed >= MOST_MISSED:
            self.due_at_s = now_s + self._period_s
            return MOST_MISSED
        count = int(missed) + 1
        self.due_at_s += count * self._period_s
        return count
