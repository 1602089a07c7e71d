"""What is due at times by key group, on a task's agenda: the ends of windows by key, and those of the times
in which a tuple of an outer join may find a partner.

Windows are [start, end): all their tuples have been processed when anything comes at their end or behind it,
or may come only there. What they emit stands at their end ahead of all else of that time, divided by key
groups, so that it stands at the same places however many tasks share the groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from framework.operators.windows.due import Due, DueByGroup
from framework.runtime.coordination.cut_record import InputEnd, last_us_before
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.tasks.agenda import AgendaClient, Entry, Frontier
from viper.position import Position


class GroupDues(AgendaClient):
    """What a component has due by key group. Here its parts are called windows.

    Args:
        windows: the component's, which may be another one after an exception.
        fire: has the component put out what is due, and places what it emits at a position.
        place: the position of a key group at a time.
        end: knows whether the end of the input is also that of what the run is a part of; asked once
            windows would fire for it.
    """

    def __init__(
        self,
        windows: Callable[[], DueByGroup],
        fire: Callable[[Due, Position], None],
        place: Callable[[int, int], Position],
        end: InputEnd,
    ) -> None:
        self._windows = windows
        self._fire = fire
        self._place = place
        self._end = end
        self._bound_us: int | None = None
        """No window ends at or before an input below this time; None where that is not known."""

    def is_due_before(self, position: Position) -> bool:
        """Whether a window may end before an input at a position."""
        return self._bound_us is None or position.ts >= self._bound_us

    def take_before(self, position: Position) -> Iterator[Entry]:
        """The windows that have ended, as an input at a position comes next."""
        time_us = None if position >= LAST else position.ts
        yield from self._entries(time_us)
        if time_us is None:
            self._bound_us = position.ts + 1
            return
        windows = self._windows()
        end_us, bound_us = windows.next_end(), windows.first_end_behind(time_us)
        self._bound_us = bound_us if end_us is None else min(end_us, bound_us)

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """The windows that have ended, as no input comes below a frontier."""
        until_us = last_us_before(frontier.position) if frontier.position < LAST else None
        if until_us is not None:
            yield from self._entries(min(frontier.position.ts, frontier.time_us))
            if frontier.time_us >= until_us:
                return
        # Event time has ended below the position: what is left up to there is due as at the end of all.
        if self._windows().next_due(until_us) is not None:
            if not self._end.may_end():
                closed_us = last_us_before(self._end.closed_at())
                until_us = closed_us if until_us is None else min(until_us, closed_us)
            yield from self._entries(until_us)

    @property
    def ends_at_us(self) -> int | None:
        """As in the base class."""
        due = self._windows().next_due(None)
        return None if due is None else due.end_us

    def taken_over(self) -> None:
        """As in the base class: with others come their windows."""
        self._bound_us = None

    def _entries(self, time_us: int | None) -> Iterator[Entry]:
        while (due := self._windows().next_due(time_us)) is not None:
            yield Entry(self._place(*due), partial(self._run, due))

    def _run(self, due: Due, at: Position | None) -> None:
        assert at is not None
        self._fire(due, at)
