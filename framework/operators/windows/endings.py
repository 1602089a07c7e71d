"""The windows by key that may end next: an agenda of times, key groups and windows.

It may name a window that no longer exists, or that ends later by now, so each window taken from it is
    checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

from framework.operators.windows.due import Due
from framework.operators.windows.state import BEHIND_TIME

Ending = dict[int, Any]
"""The keys of windows that may end at one time, by the numbers of these. Nothing of it is an object that the
garbage collector looks at: for a million windows that would take it 100 ms."""


class Endings:
    """The windows of a task by the times at which they may end, and by their key groups."""

    def __init__(self) -> None:
        self._times: list[int] = []
        """A heap."""
        self._by_time: dict[int, dict[int, Ending]] = {}

    def of(self, end: int, group: int) -> Ending:
        """The windows of a key group that may end at a time, to which more are added."""
        by_group = self._by_time.get(end)
        if by_group is None:
            by_group = self._by_time[end] = {}
            heappush(self._times, end)
        ending = by_group.get(group)
        if ending is None:
            ending = by_group[group] = {}
        return ending

    def take(self, due: Due) -> Ending:
        """These windows, which are there no more then."""
        return self._by_time[due.end_us].pop(due.group)

    @property
    def first(self) -> int | None:
        """A time before which no window ends; None where there is none that ends at a time."""
        return self._times[0] if self._times and self._times[0] < BEHIND_TIME else None

    def due(self, limit_us: int, groups: range) -> Due | None:
        """The next time up to a limit at which windows of key groups may end, and the first of these."""
        while self._times and self._times[0] <= limit_us:
            end = self._times[0]
            mine = [group for group in self._by_time[end] if group in groups]
            if mine:
                return Due(end, min(mine))
            del self._by_time[heappop(self._times)]
        return None

    def groups_at(self, end: int) -> list[int]:
        """The key groups of which windows may end at a time, in ascending order."""
        return sorted(self._by_time.get(end, {}))

    def firsts(self, groups: Iterable[int]) -> dict[int, int]:
        """By key group, a time before which none of its windows ends."""
        found = dict.fromkeys(groups, BEHIND_TIME)
        left, times = set(found), self._times.copy()
        while left and times:
            end = heappop(times)
            here = left.intersection(self._by_time[end])
            found.update(dict.fromkeys(here, end))
            left -= here
        return found
