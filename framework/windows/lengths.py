"""Stand-ins for the lengths of Storm's windows, which are plain values here."""

from __future__ import annotations

import enum
import re
from datetime import timedelta
from typing import Final, Self

_UNITS: Final = {"us": 1, "ms": 1_000, "s": 10**6, "m": 60 * 10**6, "h": 3_600 * 10**6, "d": 86_400 * 10**6}
"""How many microseconds each has."""
_WRITTEN: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*")


class TimeUnit(enum.Enum):
    """Java's units of time."""

    MICROSECONDS = timedelta(microseconds=1)
    MILLISECONDS = timedelta(milliseconds=1)
    SECONDS = timedelta(seconds=1)
    MINUTES = timedelta(minutes=1)
    HOURS = timedelta(hours=1)
    DAYS = timedelta(days=1)


class Count(int):
    """The length of a window as a number of tuples."""

    @classmethod
    def of(cls, value: int) -> Self:
        """That many tuples."""
        return cls(value)


class Duration:
    """The length of a window as a span of time; all that it makes are timedeltas.

    Args:
        value: how many.
        unit: of which unit.
    """

    def __new__(cls, value: int, unit: TimeUnit) -> timedelta:  # type: ignore[misc]
        """That many units."""
        return value * unit.value

    @staticmethod
    def of(milliseconds: int) -> timedelta:
        """That many milliseconds."""
        return timedelta(milliseconds=milliseconds)

    @staticmethod
    def seconds(seconds: int) -> timedelta:
        """That many seconds."""
        return timedelta(seconds=seconds)

    @staticmethod
    def minutes(minutes: int) -> timedelta:
        """That many minutes."""
        return timedelta(minutes=minutes)

    @staticmethod
    def hours(hours: int) -> timedelta:
        """That many hours."""
        return timedelta(hours=hours)

    @staticmethod
    def days(days: int) -> timedelta:
        """That many days."""
        return timedelta(days=days)


def length_of(what: str, value: object) -> Count | timedelta:
    """A length as users write it: a `Count`, a timedelta, microseconds, or a text such as ``10s``.

    Raises:
        TypeError: it is none of these.
        ValueError: a text without a number and a unit.
    """
    if isinstance(value, Count | timedelta):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return timedelta(microseconds=value)
    if not isinstance(value, str):
        raise TypeError(
            f"{what} is {value!r}: expected a Count, a timedelta, microseconds, or a text such as '10s'"
        )
    written = _WRITTEN.fullmatch(value)
    if written is None or written[2] not in _UNITS:
        units = ", ".join(_UNITS)
        raise ValueError(f"{what} is {value!r}: expected a number and one of {units}, such as '10s'")
    return timedelta(microseconds=float(written[1]) * _UNITS[written[2]])
