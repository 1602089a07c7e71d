"""Work that is due at times, group by group: windows by key, and tuples of joins without a partner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class Due(NamedTuple):
    """The work of one key group that is due at one time."""

    end_us: int
    group: int


class DueByGroup(Protocol):
    """Knows what is due when event time has come to a time, in the order of times and key groups."""

    def next_end(self) -> int | None:
        """A time before which nothing is due; None where nothing is due at a time."""

    def first_end_behind(self, time_us: int) -> int:
        """The first time at which something may be due because of a tuple of this time, or of a later one."""

    def next_due(self, time_us: int | None) -> Due | None:
        """Return the work that is due next, if no tuple comes before a time.

        Args:
            time_us: the time in microseconds; None for the end of all time.
        """

    def rest(self) -> Iterator[Due]:
        """Yield the work that is left at the end of the input, by group."""
