"""Stand-ins for the lengths of Storm's windows, which are plain values here."""

from __future__ import annotations

import enum
from datetime import timedelta
from typing import Self


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
