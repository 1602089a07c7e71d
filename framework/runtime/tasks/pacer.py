"""Event time that passes at the pace of a clock."""

from __future__ import annotations

from framework.operators.components.partitioned import Pace


class Pacer:
    """Says how far event time has come, for a replay at recorded pace.

    Args:
        pace: how fast it passes, and from where on.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._now_us: float = pace.origin_us
        self._since_s: float | None = None
        """Monotonic time in seconds from which on it passes; None while it stands still."""

    def start(self, now_s: float) -> None:
        """Let it pass from a monotonic time in seconds on."""
        if self._since_s is None:
            self._since_s = now_s

    def stop(self, now_s: float) -> None:
        """Let it stand still."""
        self._now_us = self._at(now_s)
        self._since_s = None

    def now_us(self, now_s: float) -> int:
        """Event time in microseconds at a monotonic time in seconds."""
        return round(self._at(now_s))  # not down, or what is due now would be due a moment later

    def due_s(self, time_us: int) -> float:
        """Monotonic time in seconds at which an event time comes; infinite while it stands still."""
        if self._since_s is None:
            return float("inf")
        return self._since_s + (time_us - self._now_us) / (self._pace.speed * 1e6)

    def _at(self, now_s: float) -> float:
        if self._since_s is None:
            return self._now_us
        return self._now_us + (now_s - self._since_s) * self._pace.speed * 1e6
