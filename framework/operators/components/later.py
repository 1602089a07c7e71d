"""The time or the event at which a spout has something again, as the spout says it."""

from __future__ import annotations

import math
import os
import select
import stat
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

WALL_LOOK_S: Final = 1.0
"""Most seconds between two looks at the wall clock, which somebody may set, and which goes on while a machine
sleeps."""
CLOSED_LOOK_S: Final = 1.0
"""Most seconds between two looks at descriptors: the kernel does not say that somebody has closed one."""


class HasFileno(Protocol):
    """A socket, a pipe, or another object with a descriptor."""

    def fileno(self) -> int:
        """The descriptor; -1 if it is closed."""


class Later:
    """A time at which a spout has something again, or an event; `after`, `at` and `when_readable` make it.

    A generator yields it, and `next_tuple` returns it. It is no row, and no part of the output.
    """

    __slots__ = ("_monotonic_s", "_wall_s", "readable")

    def __init__(
        self, monotonic_s: float, wall_s: float = -math.inf, readable: Sequence[int | HasFileno] = ()
    ) -> None:
        """
        Args:
            monotonic_s: the monotonic time in seconds.
            wall_s: the wall clock's, in seconds since 1970 UTC, which must have come, too.
            readable: descriptors, or objects that have one; something is there as soon as one is readable,
                even before the time.
        """
        self._monotonic_s = monotonic_s
        self._wall_s = wall_s
        self.readable = readable
        """The descriptors, or objects that have one, of which one that is readable is enough."""

    def look_at_s(self, now_s: float) -> float:
        """Monotonic time in seconds at which the time has come, or is to be looked at again.

        Args:
            now_s: the present one; nothing later means that it has come.
        """
        if self._wall_s == -math.inf:
            return min(self._monotonic_s, now_s + CLOSED_LOOK_S) if self.readable else self._monotonic_s
        left_s = self._wall_s - time.time()
        return now_s + min(left_s, WALL_LOOK_S)

    def has_come(self, now_s: float) -> bool:
        """True if it is that time, or later, at a monotonic time in seconds, or a descriptor is readable."""
        return self.look_at_s(now_s) <= now_s or (bool(self.readable) and _is_readable(self.readable))


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


def when_readable(*descriptors: int | HasFileno, timeout: float | timedelta | None = None) -> Later:
    """Say that a spout has something again as soon as a descriptor is readable, which the kernel says.

    A socket is readable when bytes or a connection have come, or its other end is closed. One that is
    closed here, or behind which there is an error, counts as readable, so that the spout finds it out. A
    selector of `selectors`, which has a descriptor on Linux, stands for all that are registered with it.

    Args:
        *descriptors: numbers, or objects with a `fileno`, such as sockets; one that is readable is enough.
        timeout: a number of seconds, or a timedelta, after which the spout has something in any case; None
            for never.

    Raises:
        TypeError: one is neither a number nor an object with a `fileno`, or the timeout is no time.
        ValueError: there is none, one is closed or negative, or the kernel takes one for readable always,
            as it does a file on a disk. Or the timeout is no number (NaN).
    """
    if not descriptors:
        raise ValueError("when_readable(): expected at least one descriptor, or object with a fileno")
    for given in descriptors:
        _check(given)
    if timeout is None:
        return Later(math.inf, readable=descriptors)
    seconds = timeout if type(timeout) is float else _seconds(timeout, "when_readable(..., timeout={})")
    if seconds != seconds:
        raise ValueError("when_readable(..., timeout=nan): expected a number of seconds")
    return Later(time.monotonic() + seconds, readable=descriptors)


def descriptor_of(given: int | HasFileno) -> int:
    """The number of a descriptor, or of an object that has one; -1 if that is closed."""
    if type(given) is int:
        return given
    try:
        return given.fileno()  # type: ignore[union-attr]
    except ValueError:  # a closed file
        return -1


def _is_readable(descriptors: Sequence[int | HasFileno]) -> bool:
    """True if one of some descriptors is readable, closed, or has an error."""
    found = select.poll()
    for given in descriptors:
        number = descriptor_of(given)
        if number < 0:
            return True
        found.register(number, select.POLLIN)
    return bool(found.poll(0))


def _check(given: Any) -> None:
    is_number = isinstance(given, int) and not isinstance(given, bool)
    if not is_number and not hasattr(given, "fileno"):
        raise TypeError(
            f"when_readable({given!r:.100}): expected a descriptor, or an object with a fileno, like a socket"
        )
    number = descriptor_of(given)
    try:
        kind = os.fstat(number).st_mode if number >= 0 else None
    except OSError:
        kind = None
    if kind is None:
        raise ValueError(f"when_readable({given!r:.100}): expected an open descriptor, found a closed one")
    if not (stat.S_ISSOCK(kind) or stat.S_ISFIFO(kind)) and stat.S_IFMT(kind) and not _is_told_of(number):
        raise ValueError(
            f"when_readable({given!r:.100}): the kernel takes it for readable always, as a file on a disk: "
            "expected a socket, a pipe or a terminal; TextSource(path, follow=True) waits for what is "
            "appended to a file, and after(seconds) for a time"
        )


def _is_told_of(number: int) -> bool:
    """True if the kernel says when a descriptor of a rare kind is readable."""
    if not hasattr(select, "epoll"):
        return not stat.S_ISREG(os.fstat(number).st_mode)
    with select.epoll() as probe:
        try:
            probe.register(number, select.EPOLLIN)
        except PermissionError:
            return False
    return True


def _seconds(given: Any, place: str = "after({})") -> float:
    if isinstance(given, timedelta):
        return given.total_seconds()
    if isinstance(given, bool) or not hasattr(type(given), "__float__"):
        found = place.format(f"{given!r:.100}")
        raise TypeError(f"{found}: expected a number of seconds, or a timedelta")
    return float(given)
