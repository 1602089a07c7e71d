"""Event time as users write it: numbers in a unit, datetimes, dates, and ISO 8601 texts."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Mapping
from typing import Any

MICROS_PER_SECOND = 1_000_000
"""Event time is counted in microseconds everywhere within."""

PER_SECOND: Mapping[str, int] = {"s": 1, "ms": 1000, "us": MICROS_PER_SECOND, "ns": 1_000_000_000}
"""The units by the names that configuration and datasets use, and how many of each make a second."""

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_ISO = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)"
    r"(?:[T ](?P<hour>\d\d?)"
    r"(?::(?P<minute>\d\d?)(?::(?P<second>\d\d?)(?:\.(?P<fraction>\d+))?)?)?"
    r"\s*(?P<zone>\S+)?)?",
    re.ASCII,
)
_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hours>\d\d?)(?::?(?P<minutes>\d\d)(?::?(?P<seconds>\d\d))?)?", re.ASCII
)


def micros_of(value: Any, unit: str, *, round_up: bool = False) -> int:
    """A moment in microseconds since 1970 UTC.

    Args:
        value: a number; a datetime or an ISO 8601 text (UTC where they have no zone); a date (its midnight).
        unit: what the number counts: s, ms, us or ns.
        round_up: whether a whole number of nanoseconds, or a text, between two microseconds counts as the
            later of them, not as the earlier; a float is always rounded to the nearest.

    Raises:
        TypeError: it is nothing of that kind.
        ValueError: it is a text in another form, or not a number.
        OverflowError: it is an infinite number, or no calendar reaches it.
    """
    if isinstance(value, str):
        moment, is_inexact = _of_text(value)
        return _since_epoch(moment) + (is_inexact and round_up)
    if isinstance(value, datetime.datetime):
        return _since_epoch(value)
    if isinstance(value, datetime.date):
        return _since_epoch(datetime.datetime.combine(value, datetime.time()))
    if isinstance(value, bool | bytes | bytearray):
        raise TypeError(f"{type(value).__name__} is no time")
    per_second = PER_SECOND[unit]
    if isinstance(value, int):
        micros = value * MICROS_PER_SECOND
        return -(-micros // per_second) if round_up else micros // per_second
    if per_second > MICROS_PER_SECOND:  # divided, as no float is exactly a thousandth
        return round(float(value) / (per_second // MICROS_PER_SECOND))
    return round(float(value) * (MICROS_PER_SECOND // per_second))


def _since_epoch(moment: datetime.datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return (aware - _EPOCH) // datetime.timedelta(microseconds=1)


def _of_text(text: str) -> tuple[datetime.datetime, bool]:
    """What a text says, rounded down to a microsecond, and whether that has left anything out.

    The forms are those that Spark reads when it casts a text to a timestamp: a date, or a date and a time,
    whose numbers need no leading zeros, then perhaps an offset or the name of a time zone.
    """
    found = _ISO.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r:.100} is not ISO 8601")
    numbers = [int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
    fraction = found["fraction"] or ""
    moment = datetime.datetime(*numbers, int(f"{fraction:0<6.6}"), tzinfo=_zone(found["zone"]))  # type: ignore[misc, arg-type]
    return moment, any(digit != "0" for digit in fraction[6:])


def _zone(name: str | None) -> datetime.tzinfo:
    if name in (None, "Z", "UTC", "GMT", "UT"):
        return datetime.UTC
    offset = _OFFSET.fullmatch(name)
    if offset is None:
        try:
            return zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, OSError):
            raise ValueError(f"{name!r:.100} is no time zone") from None
    hours, minutes, seconds = (int(offset[part] or 0) for part in ("hours", "minutes", "seconds"))
    size = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return datetime.timezone(size if offset["sign"] == "+" else -size)
