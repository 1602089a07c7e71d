"""The ends of a task's windows on its agenda.

A window holds the tuples at its end. It fires when no further one can come, and what it emits stands at its
end behind all tuples of that time. Windows of other tasks stand there, too, and may have been processed
before: so the task promises its consumers nothing beyond the end of a window that may still fire. It holds
back no tuple of that time, as there may be any number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from framework.operators.windows import OpenWindows
from framework.planning.layout import BEHIND_TUPLES
from framework.runtime.coordination.cut_record import InputEnd, before_us
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.tasks.agenda import AgendaClient, Entry, Frontier
from viper.position import Position


class WindowEnds(AgendaClient):
    """The windows that end at times.

    Args:
        windows: the component's, which may be another one after an exception.
        fire: has the component process the window that ends at a time, in microseconds, and places what it
            emits at a position.
        end: knows whether the end of the input is also that of what the run is a part of; asked once
            windows would fire for it.
    """

    def __init__(
        self,
        windows: Callable[[], OpenWindows],
        fire: Callable[[Position, int], None],
        end: InputEnd,
    ) -> None:
        self._windows = windows
        self._fire = fire
        self._end = end
        self._bound_us: int | None = None
        """No window fires before an input up to this time; None where that is not known."""

    def is_due_before(self, position: Position) -> bool:
        """Whether a window may end before an input at a position."""
        return self._bound_us is None or position.ts > self._bound_us

    def take_before(self, position: Position) -> Iterator[Entry]:
        """The windows that get no more tuples, as an input at a position comes next."""
        time_us = None if position >= LAST else position.ts
        yield from self._entries(time_us)
        self._bound_us = position.ts if time_us is None else self._windows().next_bound(time_us)

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """The windows that get no more tuples, as none comes below a frontier."""
        until = before_us(frontier.position) if frontier.position < LAST else None
        if until is not None:
            yield from self._entries(min(until, frontier.time_us + 1))
            if frontier.time_us + 1 >= until:
                return
        # Event time has ended below the position: what is left up to there is due as at the end of all.
        if self._windows().next_over(until) is not None:
            if not self._end.may_end():
                closed_us = before_us(self._end.closed_at())
                until = closed_us if until is None else min(until, closed_us)
            yield from self._entries(until)

    @property
    def ends_at_us(self) -> int | None:
        """As in the base class: behind the end of the first window that has tuples."""
        end_us = self._windows().next_over(None)
        return None if end_us is None else end_us + 1

    def held(self, position: Position) -> Position:
        """The end of the first window that may still fire, if it lies below a position."""
        if position >= LAST:
            return position
        end_us = self._windows().first_end_from(position.ts)
        return position if end_us is None else min(position, _place(end_us))

    def _entries(self, time_us: int | None) -> Iterator[Entry]:
        while (end_us := self._windows().next_over(time_us)) is not None:
            yield Entry(_place(end_us), partial(self._run, end_us))

    def _run(self, end_us: int, at: Position | None) -> None:
        assert at is not None
        self._fire(at, end_us)


def _place(end_us: int) -> Position:
    return Position(end_us, BEHIND_TUPLES, 0)
