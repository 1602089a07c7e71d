"""The part of the event time that is replayed."""

from __future__ import annotations

import datetime
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from framework.common.units import PER_SECOND, micros_of
from framework.model.topology import did_you_mean, one_of
from spark_ingest.errors import JobError

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_EXPECTED = "ISO 8601 text (2013-01-01T05:00:00Z), a datetime, or a number"


@dataclass(frozen=True, slots=True)
class Span:
    """Event times from one on and before another, in microseconds since 1970 UTC; None: no limit."""

    start_us: int | None = None
    until_us: int | None = None

    @property
    def is_all(self) -> bool:
        """True if it leaves nothing out."""
        return self.start_us is None and self.until_us is None

    def starting(self, start_us: int | None) -> Span:
        """The part of the span that is not before a time; it may be empty."""
        starts = [start for start in (self.start_us, start_us) if start is not None]
        return Span(max(starts, default=None), self.until_us)

    def meets(self, min_us: int, max_us: int) -> bool:
        """True if something from the one time to the other, both included, may lie in it."""
        ends_before = self.start_us is not None and max_us < self.start_us
        return not ends_before and (self.until_us is None or min_us < self.until_us)

    def part_of(self, times: Sequence[int]) -> slice:
        """Find its part of times that never decrease."""
        start = 0 if self.start_us is None else bisect_left(times, self.start_us)
        return slice(start, len(times) if self.until_us is None else bisect_left(times, self.until_us))

    def __str__(self) -> str:
        limits = [("from", self.start_us), ("until", self.until_us)]
        return " ".join(f"{word} {shown(limit)}" for word, limit in limits if limit is not None)


def span_of(start: Any, until: Any, unit: str) -> Span:
    """The span between two moments, of which either may be None; arguments as of `moment`.

    Raises:
        JobError: one of them is no moment, or there is no time between them.
    """
    start_us = None if start is None else moment("start", start, unit)
    until_us = None if until is None else moment("until", until, unit)
    if start_us is not None and until_us is not None and until_us <= start_us:
        raise JobError(f"nothing to replay: until ({shown(until_us)}) is not after start ({shown(start_us)})")
    return Span(start_us, until_us)


def moment(name: str, value: Any, unit: str) -> int:
    """A moment in microseconds since 1970 UTC; one between two microseconds is the later of them.

    Args:
        name: what it is for, for the error.
        value: ISO 8601 text or a datetime (UTC where they have no zone), a date (midnight), or a number.
        unit: of the number: s, ms, us or ns.

    Raises:
        JobError: it is no moment.
    """
    try:
        return micros_of(value, unit, round_up=True)
    except (TypeError, ValueError, OverflowError):
        raise JobError(f"{name} is {value!r}: expected {_EXPECTED} of {unit}") from None


def checked_unit(unit: str) -> str:
    """The unit itself.

    Raises:
        JobError: it is none.
    """
    if unit not in PER_SECOND:
        raise JobError(f"unit is {unit!r}: expected {one_of(PER_SECOND)}{did_you_mean(unit, PER_SECOND)}")
    return unit


def shown(time_us: int) -> str:
    """A time as people write it: ``2013-01-01T05:00:00+00:00``; a number where no calendar reaches."""
    try:
        return (_EPOCH + datetime.timedelta(microseconds=time_us)).isoformat()
    except OverflowError:
        return f"{time_us} us"
