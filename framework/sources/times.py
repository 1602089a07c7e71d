"""The event times of rows, as their timestamp field writes them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

from framework.errors import SourceError
from framework.topology import did_you_mean, one_of
from framework.units import MICROS_PER_SECOND, PER_SECOND, micros_of

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


class EventTime:
    """Reads the values of a timestamp field.

    Args:
        field: its name.
        unit: what its numbers count since 1970 UTC: s, ms, us or ns; None where it is text in ISO 8601.
        format: how its text is written, as of `datetime.strptime`; None for ISO 8601. Text that names no
            offset is UTC.

    Raises:
        SourceError: there is no such unit, or it has both a unit and a format.
    """

    def __init__(self, field: str, unit: str | None = None, format: str | None = None) -> None:
        if unit is not None and unit not in PER_SECOND:
            raise SourceError(
                f"unit is {unit!r}: expected {one_of(PER_SECOND)}{did_you_mean(unit, PER_SECOND)}"
            )
        if unit is not None and format is not None:
            raise SourceError("unit is for numbers and timestamp_format for text: give one of them")
        self.field = field
        self.unit = unit
        """What its numbers count; None where it is text."""
        self._format = format
        self._one = self._reader()
        self.expected = self._expected()
        """What a value must be, in words."""

    def one(self, value: Any) -> int:
        """The time of a value, in microseconds since 1970 UTC.

        Raises:
            ValueError: it is none.
        """
        try:
            return self._one(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{self.field!r} is {value!r:.100}: expected {self.expected}") from None

    def many(self, values: Sequence[Any]) -> list[int]:
        """The times of values, in order.

        Raises:
            ValueError: one of them is none; `one` says which and why.
        """
        try:
            if self.unit is not None and set(map(type, values)) <= {int, str}:
                return _in_micros(list(map(int, values)), self.unit)  # in a fifth of the time
        except ValueError:
            pass
        try:
            return list(map(self._one, values))
        except (TypeError, OverflowError) as error:
            raise ValueError(str(error)) from error

    def _reader(self) -> Callable[[Any], int]:
        unit, format = self.unit, self._format
        if unit is not None:
            return lambda value: _of_number(value, unit)
        if format is not None:
            return lambda value: _micros(datetime.datetime.strptime(value, format))
        return _of_text

    def _expected(self) -> str:
        if self.unit is not None:
            return f"a number, in {self.unit} since 1970"
        if self._format is not None:
            return f"a time like {datetime.datetime(2024, 5, 31, 17, 30).strftime(self._format)!r}"
        return "a time in ISO 8601, such as 2024-05-31T17:30:00Z (numbers want a unit, as in unit='ms')"


def _in_micros(numbers: list[int], unit: str) -> list[int]:
    per_second = PER_SECOND[unit]
    if per_second > MICROS_PER_SECOND:
        return [number // (per_second // MICROS_PER_SECOND) for number in numbers]
    factor = MICROS_PER_SECOND // per_second
    return numbers if factor == 1 else [number * factor for number in numbers]


def _of_number(value: Any, unit: str) -> int:
    if isinstance(value, str):
        value = int(value) if value.lstrip("+-").isdecimal() else float(value)
    return micros_of(value, unit)


def _of_text(value: Any) -> int:
    if isinstance(value, int | float):
        raise TypeError("a number without a unit")
    if isinstance(value, str):
        try:
            return _micros(datetime.datetime.fromisoformat(value))
        except ValueError:  # which knows fewer forms, and is five times as fast
            return micros_of(value, "us")
    return micros_of(value, "us")


def _micros(moment: datetime.datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return (aware - _EPOCH) // _MICROSECOND
