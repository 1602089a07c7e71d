"""Event time as users write it: numbers in a unit, datetimes, dates, and ISO 8601 texts.

The one reader of such texts; `docs/connectors.md` has the table of the forms. Spark reads them by `ISO`, too.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Final

MICROS_PER_SECOND = 1_000_000
"""Event time is counted in microseconds everywhere within."""

PER_SECOND: Mapping[str, int] = {"s": 1, "ms": 1000, "us": MICROS_PER_SECOND, "ns": 1_000_000_000}
"""The units by the names that configuration and datasets use, and how many of each make a second."""

FIRST_US: Final = -62_135_596_800_000_000
"""0001-01-01T00:00:00Z. Numbers outside of these two are most likely of another unit."""
LAST_US: Final = 253_402_300_799_999_999
"""9999-12-31T23:59:59.999999Z"""

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_NAIVE_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_AREAS: Final = (
    "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|Mexico|"
    "Pacific|US"
)
"""Areas of time zones. Short names are left out, as one reader knows others than the next (CST, PST)."""
ISO: Final = re.compile(
    r"\s*(?:(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)|(?P<date>\d{8})(?=[Tt]))"
    r"(?:[Tt ](?:(?P<hour>\d\d?)(?::(?P<minute>\d\d?)(?::(?P<second>\d\d?)(?:[.,](?P<fraction>\d+))?)?)?"
    r"|(?P<clock>\d{4}(?:\d\d)?)(?:(?<=\d{6})[.,](?P<rest>\d+))?)"
    r"(?:\s*(?P<zone>(?:UTC|GMT|UT)?[+-](?:\d\d[0-5]\d(?:[0-5]\d)?|\d\d?(?::[0-5]\d(?::[0-5]\d)?)?)"
    rf"|UTC|GMT|UT|[Zz]|(?:{_AREAS})/[A-Za-z0-9_+/-]+))?)?\s*",
    re.ASCII,
)
"""The forms of a time. Java matches the same with it, but for the spelling of the groups' names."""
_OFFSET: Final = re.compile(r"[A-Z]*([+-])(?:(\d\d)(\d\d)(\d\d)?|(\d\d?)(?::(\d\d))?(?::(\d\d))?)", re.ASCII)
_DATE: Final = re.compile(r"\s*(\d{4})(?:-(\d\d?)-(\d\d?)|(\d\d)(\d\d))\s*", re.ASCII)
_FARTHEST_OFFSET: Final = datetime.timedelta(hours=18)
"""The largest offset that Java knows; none is in use beyond 14 hours."""
_FORM: Final = (
    r"\d{4}-\d\d-\d\d(?:[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{3}(?:\d{3})?)?"
    r"(?:Z|[+-](?:0\d|1[0-7]):[0-5]\d)?)?"
)
_CANONICAL: Final = re.compile(_FORM, re.ASCII)
"""The forms that most programs write, which Python's own reader reads alike and in a fourth of the time."""
_CANONICALS: Final = re.compile(rf"{_FORM}(?:\n{_FORM})*", re.ASCII)
"""Such texts, each in a line: to look at all of them takes a fifth of the time of a look at each."""
_EXACT: Final = Context(prec=60)
_MOST_DIGITS: Final = 30
"""Digits before the point of numbers that may be a time in some unit; a 64 bit integer has 19."""


def micros_of(value: Any, unit: str, *, round_up: bool = False) -> int:
    """A moment in microseconds since 1970 UTC.

    Args:
        value: a number; a datetime or an ISO 8601 text (UTC where they have no zone); a date (its midnight).
        unit: what the number counts: s, ms, us or ns.
        round_up: whether an int, a Decimal, or a text, between two microseconds counts as the later of them,
            not as the earlier; a float is always rounded to the nearest.

    Raises:
        TypeError: it is nothing of that kind.
        ValueError: it is a text in another form, or not a number.
        OverflowError: it is an infinite number, or no calendar reaches it.
    """
    if isinstance(value, str):
        nanos, is_inexact = nanos_of(value)
        return nanos // 1000 + (round_up and (is_inexact or nanos % 1000 != 0))
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
    if isinstance(value, Decimal):
        return _of_decimal(value, per_second, ROUND_CEILING if round_up else ROUND_FLOOR)
    if per_second > MICROS_PER_SECOND:  # divided, as no float is exactly a thousandth
        return round(float(value) / (per_second // MICROS_PER_SECOND))
    return round(float(value) * (MICROS_PER_SECOND // per_second))


def nanos_of(text: str) -> tuple[int, bool]:
    """A time in ISO 8601, in nanoseconds since 1970 UTC, rounded down, and whether that left anything out.

    Raises:
        ValueError: it is in none of the forms, names no moment, or is not of the years 1 to 9999.
    """
    if _CANONICAL.fullmatch(text):
        return _within(_since_epoch(datetime.datetime.fromisoformat(text)), text) * 1000, False
    found = ISO.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r:.100} is not ISO 8601")
    date, clock, fraction = found["date"], found["clock"], found["fraction"] or found["rest"] or ""
    days = (date[:4], date[4:6], date[6:]) if date else found.group("year", "month", "day")
    times = (clock[:2], clock[2:4], clock[4:]) if clock else found.group("hour", "minute", "second")
    numbers = [int(part or 0) for part in (*days, *times)]
    try:
        moment = datetime.datetime(*numbers, tzinfo=_zone(found["zone"]))  # type: ignore[misc, arg-type]
    except ValueError as error:
        raise ValueError(f"{text!r:.100}: {error}") from None
    seconds = _within(_since_epoch(moment), text) // MICROS_PER_SECOND
    return seconds * PER_SECOND["ns"] + int(f"{fraction:0<9.9}"), bool(fraction[9:].strip("0"))


def micros_of_plain(texts: Sequence[str]) -> list[int]:
    """Return the times of texts in common forms, as `micros_of` reads them, in a fifth of its time.

    The forms are those that most programs write: a date, or a date and a time to the second or with three or
    six further digits.

    Raises:
        ValueError: one of them is not, or is no moment.
    """
    if texts and not _CANONICALS.fullmatch("\n".join(texts)):
        raise ValueError("a text that is not in the forms that most programs write")
    moments = list(map(datetime.datetime.fromisoformat, texts))
    micros = [(moment - (_EPOCH if moment.tzinfo else _NAIVE_EPOCH)) // _MICROSECOND for moment in moments]
    if micros and not FIRST_US <= min(micros) <= max(micros) <= LAST_US:
        raise ValueError("a time that is not of the years 1 to 9999 in UTC")
    return micros


def date_of(text: str) -> datetime.date:
    """A date in ISO 8601, such as ``2024-05-31`` or ``20240531``, without a time of day.

    Raises:
        ValueError: it is none.
    """
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r:.100} is no date in ISO 8601")
    year, month, day, *basic = found.groups()
    return datetime.date(int(year), int(month or basic[0]), int(day or basic[1]))


def _since_epoch(moment: datetime.datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return (aware - _EPOCH) // _MICROSECOND


def _of_decimal(value: Decimal, per_second: int, rounding: str) -> int:
    if value.is_nan():
        raise ValueError("it is no number")
    if value.is_infinite() or value.adjusted() > _MOST_DIGITS:
        raise OverflowError("no calendar reaches it")
    micros = Decimal(MICROS_PER_SECOND) / per_second
    return int(value.quantize(1 / micros, rounding, _EXACT) * micros)


def _within(micros: int, text: str) -> int:
    if not FIRST_US <= micros <= LAST_US:
        raise ValueError(f"{text!r:.100} is not of the years 1 to 9999 in UTC")
    return micros


def _zone(name: str | None) -> datetime.tzinfo:
    if name in (None, "Z", "z", "UTC", "GMT", "UT"):
        return datetime.UTC
    found = _OFFSET.fullmatch(name)
    if found is None:
        try:
            return zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, OSError):
            raise ValueError(f"{name!r:.100} is no time zone") from None
    sign, *parts = found.groups()
    hours, minutes, seconds = (
        int(basic or colon or 0) for basic, colon in zip(parts[:3], parts[3:], strict=True)
    )
    size = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if size > _FARTHEST_OFFSET:
        raise ValueError(f"offset {name} is beyond 18 hours")
    return datetime.timezone(size if sign == "+" else -size)
