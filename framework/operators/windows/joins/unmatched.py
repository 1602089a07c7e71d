"""The tuples of an outer join that have had no partner so far, by when none can come any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from framework.operators.windows.due import Due, Endings
from framework.operators.windows.joins.conditions import Side
from framework.operators.windows.joins.rows import Stored

_GROUPS: Final = range(1 << 62)
"""All key groups: a task stores no tuple of another one's."""


class Waiting(NamedTuple):
    """A stored tuple that has had no partner."""

    stored: Stored
    side: Side
    end_us: int
    """The time from which on none can come; `BEHIND_TIME` for a tuple after all that has a time."""


class Unmatched:
    """The waiting tuples of one task. A tuple is known by its number, counted over both streams."""

    def __init__(self) -> None:
        self._waiting: dict[int, Waiting] = {}
        self._endings = Endings()
        """The same, by their ends."""
        self._settled: list[Waiting] = []
        """The tuples that have ceased to wait since `take_settled` was called."""

    def wait(self, waiting: Waiting) -> None:
        """Let a tuple wait for a partner."""
        self._waiting[waiting.stored.number] = waiting
        self._endings.of(waiting.end_us, waiting.stored.group)[waiting.stored.number] = waiting

    def pass_over(self, waiting: Waiting) -> None:
        """Note that a tuple has a partner as it comes."""
        self._settled.append(waiting)

    def settle(self, number: int) -> None:
        """Note that a tuple has a partner, or was put out without one."""
        waiting = self._waiting.pop(number, None)
        if waiting is not None:
            self._endings.drop(waiting.end_us, waiting.stored.group, number)
            self._settled.append(waiting)

    # -- what is due

    def next_end(self) -> int | None:
        """As of `DueByGroup`."""
        return self._endings.first

    def next_due(self, time_us: int | None) -> Due | None:
        """As of `DueByGroup`."""
        return self._endings.due(time_us, _GROUPS)

    def rest(self) -> Iterator[Due]:
        """As of `DueByGroup`: tuples that lie after all that has a time."""
        return self._endings.rest(_GROUPS)

    def take(self, due: Due) -> list[Waiting]:
        """The tuples that are due, in the order in which they came; they wait no more."""
        found = sorted(self._endings.take(due).values())
        for waiting in found:
            del self._waiting[waiting.stored.number]
        self._settled += found
        return found

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
            self.wait(waiting)
        del self._settled[mark:]
        for number in [number for number in reversed(self._waiting) if number >= count]:
            waiting = self._waiting.pop(number)
            self._endings.drop(waiting.end_us, waiting.stored.group, number)
