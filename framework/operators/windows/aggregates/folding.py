"""Folding a window of one key by an aggregate: into one accumulator, or into one for each pane.

An operator asks a `Folding` for everything that depends on which of both it is.
"""

from __future__ import annotations

from typing import Any

from framework.operators.windows.aggregates.base import Adder, Aggregate
from framework.operators.windows.aggregates.panes import PaneWindow
from framework.operators.windows.grids import Grid
from framework.operators.windows.key_window import KeyWindow


class Folding:
    """Each window has an accumulator of its own, which is its state.

    Args:
        aggregate: what is computed of the tuples.
        add: adds the values of a tuple to an accumulator.
    """

    def __init__(self, aggregate: Aggregate[Any, Any], add: Adder[Any]) -> None:
        self._aggregate = aggregate
        self._add = add

    def create(self) -> Any:
        """The state of a window without tuples."""
        return self._aggregate.create()

    def fresh(self) -> Any:
        """An accumulator without values, of a window or of a pane."""
        return self._aggregate.create()

    def add(self, window: KeyWindow, time_us: int, values: Any) -> None:
        """Add the values of a tuple of a time that the window has."""
        window.state = self._add(window.state, values)

    def get(self, window: KeyWindow, time_us: int) -> Any:
        """The accumulator that tuples of a time are added to."""
        return window.state

    def put(self, window: KeyWindow, time_us: int, acc: Any) -> None:
        """Put another one in its place, which has more tuples."""
        window.state = acc

    def accumulated(self, window: KeyWindow) -> Any:
        """The accumulator of the whole window, which is not to be changed."""
        return window.state

    def slide(self, window: KeyWindow) -> Any:
        """The state that remains as a window slides on.

        Raises:
            NotImplementedError: it does not.
        """
        raise NotImplementedError("a window with one accumulator does not slide")


class PaneFolding(Folding):
    """A window slides on, and is made of panes: a tuple is added to one, in however many windows it is.

    A window is pickled as its panes alone, so its state may be these.

    Args:
        aggregate: as of `Folding`.
        add: likewise.
        grid: has the panes.
    """

    def __init__(self, aggregate: Aggregate[Any, Any], add: Adder[Any], grid: Grid) -> None:
        super().__init__(aggregate, add)
        self._grid = grid

    def create(self) -> PaneWindow:
        """As in the base class."""
        return self._panes({})

    def add(self, window: KeyWindow, time_us: int, values: Any) -> None:
        """As in the base class."""
        self._of(window).add(self._at(window, time_us), values)

    def get(self, window: KeyWindow, time_us: int) -> Any:
        """As in the base class."""
        return self._of(window).get(self._at(window, time_us))

    def put(self, window: KeyWindow, time_us: int, acc: Any) -> None:
        """As in the base class."""
        self._of(window).put(self._at(window, time_us), acc)

    def accumulated(self, window: KeyWindow) -> Any:
        """As in the base class."""
        state = window.state
        panes = state if state.__class__ is PaneWindow else self._of(window)
        accumulated: Any = panes.accumulated(self._grid.first_pane(window.start) + self._grid.count)
        return accumulated

    def slide(self, window: KeyWindow) -> PaneWindow:
        """As in the base class: the panes before the next window go."""
        panes = self._of(window)
        panes.drop(self._grid.first_pane(self._grid.next_start(window.start)))
        return panes

    def _at(self, window: KeyWindow, time_us: int) -> int:
        """The number of the pane of a time; for tuples after all time, that of the first pane of its
        window."""
        return self._grid.pane_at(time_us if time_us < window.end else window.start)

    def _of(self, window: KeyWindow) -> PaneWindow:
        found = window.state
        if found.__class__ is not PaneWindow:
            found = window.state = self._panes(found)
        return found

    def _panes(self, kept: Any) -> PaneWindow:
        return PaneWindow(self._aggregate, self._grid.count, kept, self._add)
