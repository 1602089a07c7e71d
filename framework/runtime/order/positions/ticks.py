"""The times at which a task's ticks are due, by event time or by the wall clock."""

from __future__ import annotations

from collections.abc import Iterator

MICROS = 1_000_000
MOST_MISSED = 1000
"""Most ticks by the wall clock that a task catches up on at once."""


class EventTicks:
    """Ticks at the multiples of a period in event time.

    Between two inputs only the first `noticeable` ticks are given, because more of them have no effect on the
    component. Otherwise a pause of a year would mean thirty million ticks at one tick per second. Which ticks
    these are does not depend on how far event time advances at once.

    Args:
        period_s: the period in seconds.
        noticeable: the most ticks between two inputs.
    """

    def __init__(self, period_s: float, noticeable: int) -> None:
        self._period = max(int(period_s * MICROS), 1)
        self._noticeable = noticeable
        self._since_input = 0
        self._next: int | None = None

    def due(self, until_us: int) -> Iterator[int]:
        """Yield the times, in microseconds, of the ticks that are due at or before a time."""
        if self._next is None:  # event time begins with the first tuple
            self._next = (until_us // self._period + 1) * self._period
        count = (until_us - self._next) // self._period + 1
        if count <= 0:
            return
        first, self._next = self._next, self._next + count * self._period
        number = min(count, self._noticeable - self._since_input)
        self._since_input += number
        for nth in range(number):
            yield first + nth * self._period

    def save(self) -> tuple[int | None, int]:
        """The time of the next tick in microseconds, and the number of ticks since the last input."""
        return self._next, self._since_input

    def restore(self, next_us: int | None, since_input: int) -> None:
        """Resume where others had come to, by the data that `save` has returned."""
        self._next, self._since_input = next_us, since_input

    def input_seen(self) -> None:
        """Note that an input came after the ticks so far."""
        self._since_input = 0

    def next_boundary(self) -> int | None:
        """The time of the next tick in microseconds; None before the first input."""
        return self._next


class WallTimer:
    """A timer that is due once per period of the monotonic clock.

    Args:
        period_s: the period in seconds.
        now_s: monotonic time in seconds; the timer is due for the first time a period later.
    """

    def __init__(self, period_s: float, now_s: float) -> None:
        self._period_s = period_s
        self.due_at_s = now_s + period_s
        """Monotonic time in seconds at which it is due next."""

    def take_due(self, now_s: float) -> int:
        """The number of times that the timer has become due since the last call, missed ones included.

        At most `MOST_MISSED` are counted, because a very short period would make their number endless.
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
