"""Stand-ins for the lengths of Storm's windows, which are plain values here."""

from __future__ import annotations

import enum
import re
from datetime import timedelta
from typing import Final, NamedTuple, Self

_UNITS: Final = {"us": 1, "ms": 1_000, "s": 10**6, "m": 60 * 10**6, "h": 3_600 * 10**6, "d": 86_400 * 10**6}
"""The microseconds in each unit."""
_WRITTEN: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.ASCII)
_SIGNED: Final = re.compile(r"\s*([+-]?)(.*)", re.DOTALL)
_OF_CALENDAR: Final = re.compile(r"\s*0*([1-9]\d{0,5})\s*(d|w|mo)\s*", re.ASCII)
_DAY: Final = timedelta(days=1)


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
        is_calendar = _OF_CALENDAR.fullmatch(value) is not None
        also = "; weeks and months are those of a zone, such as zone='UTC'" if is_calendar else ""
        raise ValueError(f"{what} is {value!r}: expected a number and one of {units}, such as '10s'{also}")
    return timedelta(microseconds=float(written[1]) * _UNITS[written[2]])


def offset_of(what: str, value: object) -> timedelta:
    """Return the time by which something begins later, or earlier: written as for `length_of`, with either
    sign.

    Raises:
        TypeError: it is no span of time.
        ValueError: a text without a number and a unit.
    """
    if isinstance(value, Count):
        raise TypeError(f"{what} is {value!r}: expected a duration, such as '6h' or '-30m'")
    signed = _SIGNED.fullmatch(value) if isinstance(value, str) else None
    found = length_of(what, value if signed is None else signed[2])
    assert isinstance(found, timedelta), "no Count"
    return -found if signed is not None and signed[1] == "-" else found


class CalendarLength(NamedTuple):
    """So many days, or so many months, of a calendar."""

    number: int
    is_months: bool
    is_weeks: bool = False
    """True if the days were written as weeks."""


def calendar_length_of(what: str, value: object) -> CalendarLength:
    """Days, weeks or months as users write them: ``1d``, ``1w``, ``1mo``, or a timedelta of whole days.

    Raises:
        TypeError: it is neither.
        ValueError: it is another length.
    """
    if isinstance(value, timedelta) and value > timedelta(0) and not value % _DAY:
        return CalendarLength(value // _DAY, False)
    if not isinstance(value, str | timedelta):
        raise TypeError(f"{what} is {value!r}: expected days, weeks or months of the zone, such as '1d'")
    written = _OF_CALENDAR.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        raise ValueError(
            f"{what} is {value!r}: expected whole days, weeks or months of the zone, such as '1d', '1w' or "
            "'1mo'; other lengths are the same in every zone: leave out the zone, and give an offset if "
            "windows are to begin at other times than the multiples of the length in UTC"
        )
    number, unit = int(written[1]), written[2]
    return CalendarLength(number * (7 if unit == "w" else 1), unit == "mo", unit == "w")
