"""The tuples of an outer join that have had no partner so far, by when none can come any more."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from framework.operators.windows.due import Due
from framework.operators.windows.joins.conditions import Side
from framework.operators.windows.joins.rows import Stored
from framework.operators.windows.state import BEHIND_TIME


class Waiting(NamedTuple):
    """A stored tuple that has had no partner."""

    stored: Stored
    side: Side
    end_us: int
    """The time from which on none can come."""


class Unmatched:
    """The unmatched tuples of one task.

    A tuple is known by its number, which counts the tuples of both streams.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, Waiting] = {}
        self._ends: list[int] = []
        """A heap of their ends."""
        self._ending: dict[int, dict[int, list[Waiting]]] = {}
        """By end and key group, in the order in which they came; among them some that wait no more."""
        self._settled: list[Waiting] = []
        """The tuples that have ceased to wait since `take_settled` was called."""

    def wait(self, waiting: Waiting) -> None:
        """Let a tuple wait for a partner."""
        self._waiting[waiting.stored.number] = waiting
        end = min(waiting.end_us, BEHIND_TIME)
        by_group = self._ending.get(end)
        if by_group is None:
            by_group = self._ending[end] = {}
            heappush(self._ends, end)
        by_group.setdefault(waiting.stored.group, []).append(waiting)

    def pass_over(self, waiting: Waiting) -> None:
        """Note that a tuple has a partner as it comes."""
        self._settled.append(waiting)

    def settle(self, number: int) -> None:
        """Note that a tuple has a partner, or was put out without one."""
        waiting = self._waiting.pop(number, None)
        if waiting is not None:
            self._settled.append(waiting)

    # -- what is due

    def next_end(self) -> int | None:
        """As of `DueByGroup`."""
        return self._ends[0] if self._ends and self._ends[0] < BEHIND_TIME else None

    def next_due(self, time_us: int | None) -> Due | None:
        """As of `DueByGroup`."""
        limit = BEHIND_TIME - 1 if time_us is None else min(time_us, BEHIND_TIME - 1)
        while self._ends and self._ends[0] <= limit:
            due = self._first_of(self._ends[0])
            if due is not None:
                return due
            del self._ending[heappop(self._ends)]
        return None

    def rest(self) -> Iterator[Due]:
        """As of `DueByGroup`: tuples that lie after all that has a time."""
        by_group = self._ending.get(BEHIND_TIME, {})
        for group in sorted(by_group):
            if self._waiting_among(by_group[group]):
                yield Due(BEHIND_TIME, group)

    def take(self, due: Due) -> list[Waiting]:
        """The tuples that are due, in the order in which they came; they wait no more."""
        found = self._waiting_among(self._ending[due.end_us].pop(due.group))
        for waiting in found:
            self.settle(waiting.stored.number)
        return found

    def _first_of(self, end_us: int) -> Due | None:
        by_group = self._ending[end_us]
        for group in sorted(by_group):
            if self._waiting_among(by_group[group]):
                return Due(end_us, group)
            del by_group[group]
        return None

    def _waiting_among(self, tuples: list[Waiting]) -> list[Waiting]:
        return [one for one in tuples if self._waiting.get(one.stored.number) is one]

    # -- as a part of declared state

    @property
    def has_settled(self) -> bool:
        """True if a tuple has ceased to wait since `take_settled` was called."""
        return bool(self._settled)

    @property
    def mark(self) -> int:
        """For `back_to`."""
        return len(self._settled)

    def take_settled(self) -> list[int]:
        """The numbers of the tuples that have ceased to wait since the last call."""
        numbers = [waiting.stored.number for waiting in self._settled]
        self._settled.clear()
        return numbers

    def back_to(self, mark: int, count: int) -> None:
        """Go back to what was known at a mark, when so many tuples had come."""
        for waiting in self._settled[mark:]:
            self._waiting[waiting.stored.number] = waiting
        del self._settled[mark:]
        for number in [number for number in reversed(self._waiting) if number >= count]:
            del self._waiting[number]
