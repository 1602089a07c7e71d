"""The bounds of windows by time: the one place that computes them, for windows by key, Storm's and joins.

Time is divided into panes, each of which lies in a window as a whole or not at all. The pane of number 0
begins in 1970, by the offset later or earlier. A window begins every so many panes, and has so many. The
bounds of the last pane are kept, as tuples come in the order of their times.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from math import gcd
from typing import Final

from framework.operators.windows.zones import DAY_US, Zone

Bounds = tuple[int, int]
"""Start and end of a window, in microseconds."""
_NEVER: Final = (1, 0)
"""A stretch of time without any instant."""
_MOST_KEPT: Final = 4096
"""Instants that a grid remembers."""


def pane_of(size: int, advance: int) -> int:
    """The length of a pane of windows of a size, the next of which each begins an advance later."""
    return gcd(size, advance)


class Grid:
    """Windows whose panes are all as long.

    Args:
        size: how long a window is.
        advance: from the start of one to that of the next.
        offset_us: how much later windows start than at the multiples of the advance.
    """

    def __init__(self, size: int, advance: int, offset_us: int = 0) -> None:
        self._pane = pane_of(size, advance)
        self.count = size // self._pane
        """The number of panes in a window."""
        self._step = advance // self._pane
        self._offset_us = offset_us
        # Each of these is assigned as a whole, as the threads of several tasks may share a grid of a join.
        self._at: tuple[int, int, Sequence[Bounds]] = (*_NEVER, ())
        self._end: tuple[int, int] = (0, 0)

    # -- panes

    def pane_at(self, time_us: int) -> int:
        """The number of the pane that has an instant; the last one of those that start there."""
        return (time_us - self._offset_us) // self._pane

    def start_of(self, pane: int) -> int:
        """The instant at which a pane starts, and the one before it ends."""
        return pane * self._pane + self._offset_us

    def pane_until(self, time_us: int) -> int:
        """The end of the pane that has an instant."""
        return self.start_of(self.pane_at(time_us) + 1)

    # -- windows [start, end), which are told apart by their starts

    def windows_at(self, time_us: int) -> Sequence[Bounds]:
        """The windows that have an instant, by their starts."""
        since_us, until_us, found = self._at
        if since_us <= time_us < until_us:
            return found
        pane = self.pane_at(time_us)
        first = first_start(pane, self.count, self._step)
        starts = range(first, pane + 1, self._step)
        found = tuple({self.start_of(at): self.start_of(at + self.count) for at in starts}.items())
        self._at = self.start_of(pane), self.start_of(pane + 1), found
        return found

    def first_start(self, time_us: int) -> int:
        """The start of the first window that ends behind an instant; it may lie behind that itself."""
        return self.start_of(first_start(self.pane_at(time_us), self.count, self._step))

    def first_pane(self, start_us: int) -> int:
        """The number of the first pane of the window that starts at an instant."""
        return self.pane_at(start_us) // self._step * self._step

    def next_start(self, start_us: int) -> int:
        """The start of the window behind the one that starts at an instant."""
        return self.start_of(self.first_pane(start_us) + self._step)

    def end_of(self, start_us: int) -> int:
        """The end of the window that starts at an instant."""
        return self.start_of(self.first_pane(start_us) + self.count)

    # -- windows (start, end], which are told apart by their ends

    def end_from(self, time_us: int) -> int:
        """The end of the first window that ends at an instant or behind it."""
        before_us, end_us = self._end
        if before_us < time_us <= end_us:
            return end_us
        bound = self._bound_from(time_us)
        end_us = self.start_of(bound)
        self._end = self.start_of(bound - self._step), end_us
        return end_us

    def end_before(self, time_us: int) -> int:
        """The end of the last window that ends before an instant."""
        return self.start_of(self._bound_from(time_us) - self._step)

    def start_to(self, end_us: int) -> int:
        """The start of the window that ends at an instant."""
        return self.start_of(self._bound_from(end_us) - self.count)

    def _bound_from(self, time_us: int) -> int:
        """The number of the first pane from an instant on before which a window ends."""
        bound = self.pane_at(time_us - 1) + 1
        return -(-bound // self._step) * self._step


class CalendarGrid(Grid):
    """Windows of days or months as a zone has them.

    A day starts when clocks first show its first time, or a later one. So one on which clocks are changed is
    longer or shorter, and one that a zone has left out has no instant.

    Args:
        zone: whose clocks they are.
        size: how many days or months a window has.
        advance: how many there are from the start of one to that of the next.
        offset_us: how much later than at midnight windows start, by the clocks.
        months: whether windows are of months.
    """

    def __init__(
        self, zone: Zone, size: int, advance: int, offset_us: int = 0, *, months: bool = False
    ) -> None:
        super().__init__(size, advance, offset_us)
        self._zone = zone
        self._months = months
        self._known: dict[int, int] = {}
        self._last: tuple[int, int, int] = (*_NEVER, 0)

    def pane_at(self, time_us: int) -> int:
        """As in the base class."""
        since_us, until_us, pane = self._last
        if since_us <= time_us < until_us:
            return pane
        pane = self._shown_in(time_us + self._zone.offset_us(time_us))
        # Clocks that are set back may show a time of the pane before again.
        while self.start_of(pane + 1) <= time_us:
            pane += 1
        while self.start_of(pane) > time_us:
            pane -= 1
        self._last = self.start_of(pane), self.start_of(pane + 1), pane
        return pane

    def start_of(self, pane: int) -> int:
        """As in the base class."""
        found = self._known.get(pane)
        if found is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            found = self._known[pane] = self._zone.first_at(self._shown_first(pane))
        return found

    def _shown_in(self, reading_us: int) -> int:
        """The number of the pane in which clocks show a time."""
        day = (reading_us - self._offset_us) // DAY_US
        return (_month_of(day) if self._months else day) // self._pane

    def _shown_first(self, pane: int) -> int:
        """The first time that clocks show in a pane."""
        first = pane * self._pane
        return (_day_of(first) if self._months else first) * DAY_US + self._offset_us


_CYCLE_DAYS: Final = 146_097
_CYCLE_MONTHS: Final = 4800
_EPOCH: Final = date(1970, 1, 1).toordinal()


def _month_of(day: int) -> int:
    """The month that has a day; both are counted from 1970."""
    cycles, day = divmod(day, _CYCLE_DAYS)
    found = date.fromordinal(_EPOCH + day)
    return cycles * _CYCLE_MONTHS + (found.year - 1970) * 12 + found.month - 1


def _day_of(month: int) -> int:
    """The first day of a month, likewise."""
    cycles, month = divmod(month, _CYCLE_MONTHS)
    return cycles * _CYCLE_DAYS + date(1970 + month // 12, month % 12 + 1, 1).toordinal() - _EPOCH


def first_start(at: int, size: int, advance: int) -> int:
    """Return the start of the first window that ends after a number.

    Windows start at the multiples of an advance. The number may lie before that start, if windows have gaps
    between them.
    """
    return ((at - size) // advance + 1) * advance
