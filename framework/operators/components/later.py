"""The time at which a spout has something again, as the spout says it."""

from __future__ import annotations

import math
import time
from datetime import datetime, timedelta
from typing import Any, Final

WALL_LOOK_S: Final = 1.0
"""Most seconds between two looks at the wall clock, which somebody may set, and which goes on while a machine
sleeps."""


class Later:
    """A time at which a spout has something again; `after` and `at` make it.

    A generator yields it, and `next_tuple` returns it. It is no row, and no part of the output.
    """

    __slots__ = ("_monotonic_s", "_wall_s")

    def __init__(self, monotonic_s: float, wall_s: float = -math.inf) -> None:
        """
        Args:
            monotonic_s: the monotonic time in seconds.
            wall_s: the wall clock's, in seconds since 1970 UTC, which must have come, too.
        """
        self._monotonic_s = monotonic_s
        self._wall_s = wall_s

    def look_at_s(self, now_s: float) -> float:
        """Monotonic time in seconds at which the time has come, or is to be looked at again.

        Args:
            now_s: the present one; nothing later means that it has come.
        """
        if self._wall_s == -math.inf:
            return self._monotonic_s
        left_s = self._wall_s - time.time()
        return now_s + min(left_s, WALL_LOOK_S)

    def has_come(self, now_s: float) -> bool:
        """True if it is that time, or later, at a monotonic time in seconds."""
        return self.look_at_s(now_s) <= now_s


def after(seconds: float | timedelta) -> Later:
    """Say that a spout has something again after some time, whatever somebody does to the wall clock.

    Args:
        seconds: a number of seconds, or a timedelta; none or less means now, infinity that only something
            else can wake the spout.

    Raises:
        TypeError: it is neither a number nor a timedelta.
        ValueError: it is not a number (NaN).
    """
    if type(seconds) is not float:
        seconds = _seconds(seconds)
    if seconds != seconds:
        raise ValueError("after(nan): expected a number of seconds")
    return Later(time.monotonic() + seconds)


def at(moment: datetime) -> Later:
    """Say that a spout has something again at a time of the wall clock; a time in the past means now.

    Args:
        moment: a datetime with a time zone, such as ``datetime.now(UTC) + timedelta(seconds=5)``.

    Raises:
        TypeError: it is no datetime.
        ValueError: it has no time zone.
    """
    if not isinstance(moment, datetime):
        raise TypeError(
            f"at({moment!r:.100}): expected a datetime with a time zone; after(seconds) takes a number"
        )
    if moment.utcoffset() is None:
        raise ValueError(f"at({moment!r}): expected a datetime with a time zone, such as datetime.now(UTC)")
    return Later(-math.inf, moment.timestamp())


def _seconds(given: Any) -> float:
    if isinstance(given, timedelta):
        return given.total_seconds()
    if isinstance(given, bool) or not hasattr(type(given), "__float__"):
        raise TypeError(f"after({given!r:.100}): expected a number of seconds, or a timedelta")
    return float(given)
