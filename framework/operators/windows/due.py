"""The work that is due at times: windows, and tuples of joins without a partner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple, Protocol

from framework.operators.windows.spec import BEHIND_TIME


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


Ending = dict[int, Any]
"""The items that may be due at one time, by their numbers: keys of windows, or waiting tuples. Of windows it
holds no object that the garbage collector looks at: for a million windows that would take it 100 ms."""


class Endings:
    """The items of a task by the times at which they may be due, and by their key groups.

    An item may name a window that has gone, or ends later by now. The caller that takes windows checks them.
    """

    def __init__(self) -> None:
        self._times: list[int] = []
        """A heap."""
        self._by_time: dict[int, dict[int, Ending]] = {}

    def of(self, end: int, group: int) -> Ending:
        """The items of a key group that may be due at a time, to which more are added."""
        by_group = self._by_time.get(end)
        if by_group is None:
            by_group = self._by_time[end] = {}
            heappush(self._times, end)
        ending = by_group.get(group)
        if ending is None:
            ending = by_group[group] = {}
        return ending

    def take(self, due: Due) -> Ending:
        """Remove these items, and return them."""
        return self._by_time[due.end_us].pop(due.group)

    @property
    def first(self) -> int | None:
        """A time before which nothing is due; None where nothing is due at a time."""
        return self._times[0] if self._times and self._times[0] < BEHIND_TIME else None

    def due(self, time_us: int | None, groups: range) -> Due | None:
        """The next items of key groups that are due; time and result are as of `DueByGroup.next_due`."""
        limit_us = BEHIND_TIME - 1 if time_us is None else min(time_us, BEHIND_TIME - 1)
        while self._times and self._times[0] <= limit_us:
            end = self._times[0]
            mine = [group for group in self._by_time[end] if group in groups]
            if mine:
                return Due(end, min(mine))
            del self._by_time[heappop(self._times)]
        return None

    def drop(self, end: int, group: int, number: int) -> None:
        """Forget an item, if it is there."""
        by_group = self._by_time.get(end, {})
        by_group.get(group, {}).pop(number, None)
        if group in by_group and not by_group[group]:
            del by_group[group]

    def rest(self, groups: range) -> Iterator[Due]:
        """The items of key groups that are due after all that has a time, in the order of groups."""
        for group in sorted(self._by_time.get(BEHIND_TIME, {})):
            if group in groups:
                yield Due(BEHIND_TIME, group)

    def firsts(self, groups: Iterable[int]) -> dict[int, int]:
        """By key group, a time before which none of its items is due."""
        found = dict.fromkeys(groups, BEHIND_TIME)
        left, times = set(found), self._times.copy()
        while left and times:
            end = heappop(times)
            here = left.intersection(self._by_time[end])
            found.update(dict.fromkeys(here, end))
            left -= here
        return found
