"""When a task's ticks are due: by event time, or by the wall clock."""

from __future__ import annotations

from collections.abc import Iterator

MICROS = 1_000_000


class EventTicks:
    """Ticks at the multiples of their period in event time.

    Between two inputs only as many are given as the component can tell apart: a year
    replayed at one tick a second is not thirty million calls.
    """

    def __init__(self, period_s: float, noticeable: int) -> None:
        self._period = max(int(period_s * MICROS), 1)
        self._noticeable = noticeable
        self._next: int | None = None

    def due(self, until_us: int) -> Iterator[int]:
        """The times, in microseconds, of the ticks that come at or before a time."""
        if self._next is None:  # event time begins with the first tuple
            self._next = (until_us // self._period + 1) * self._period
        count = (until_us - self._next) // self._period + 1
        if count <= 0:
            return
        first, self._next = self._next, self._next + count * self._period
        for nth in range(min(count, self._noticeable)):
            # the last one is the last boundary, so that state is as fresh as it would have been
            skipped = 0 if nth + 1 < self._noticeable else count - self._noticeable
            yield first + (nth + max(skipped, 0)) * self._period

    def next_boundary(self) -> int | None:
        """The time of the next tick, once event time has begun."""
        return self._next


class WallTimer:
    """Something due every so many seconds of the monotonic clock."""

    def __init__(self, period_s: float, now_s: float) -> None:
        self._period = period_s
        self.due_at = now_s + period_s
        """Monotonic time in seconds at which it is due next."""

    def fires(self, now_s: float) -> bool:
        """Whether it is due; it is due again a period from now, however late it was."""
        if now_s < self.due_at:
            return False
        self.due_at = now_s + self._period
        return True
