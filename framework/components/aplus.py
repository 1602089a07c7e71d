"""The operator A+ of the STRETCH paper: an O+ whose windows are aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.components.oplus import OPlus
from framework.components.tuple import Tuple
from framework.windows.aggregates import Aggregate, PaneWindow, pane_of
from framework.windows.aggregates.base import Adder
from framework.windows.key_window import KeyWindow
from framework.windows.spec import LATENESS_MS, OFFSET_MS, spec_in


class APlus(OPlus):
    """Emits for each window of a key the key and the result of an aggregate.

        class Spent(APlus):
            outputs = ["user", "total"]
            size, advance = "1h", "1m"
            aggregate = Sum("amount")

    Windows that overlap are made of panes: a tuple is added to one pane, in however many windows it is, and
    as a window slides on, panes leave it (`framework.windows.aggregates.panes`). With allowed lateness each
    window has an accumulator of its own.
    """

    aggregate: Aggregate[Any, Any]
    """What is computed of the tuples of a window."""

    _pane_us = 0
    """The length of a pane; 0 where windows do not overlap."""
    _panes_of_window = 0
    _offset_us = 0
    _advance_us = 0

    def create(self) -> Any:
        """As in the base class: the panes of a window, or an accumulator."""
        return self._panes(None) if self._pane_us else self.aggregate.create()

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> None:
        """As in the base class."""
        if not self._pane_us:
            window.state = self._add(window.state, tup.values)
            return
        time_us = self.window_state.now() if self._late is None else self._late.time_of(tup)
        # Tuples behind all that has a time are in a window that ends before them.
        pane = (min(time_us, window.end - 1) - self._offset_us) // self._pane_us
        self._panes_of(window).add(pane, tup.values)

    def output(self, window: KeyWindow) -> list[Sequence[Any]]:
        """As in the base class: the values of the key, and those of the result."""
        acc = window.state
        if self._pane_us:
            end = -((self._offset_us - window.end) // self._pane_us)
            acc = self._panes_of(window).accumulated(end)
        key = window.key if isinstance(window.key, tuple) else (window.key,)
        return [(*key, *self.aggregate.row(acc))]

    def slide(self, window: KeyWindow) -> PaneWindow:
        """As in the base class: the panes before the next window go."""
        panes = self._panes_of(window)
        panes.drop((window.start + self._advance_us - self._offset_us) // self._pane_us)
        return panes

    def _open_windows(self, conf: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        self._adders: dict[type, Adder[Any]] = {}
        spec = spec_in(conf)
        assert spec is not None
        size_us, advance_us = spec.length_us or 0, spec.slide_us or 0
        if 0 < advance_us < size_us and not conf[LATENESS_MS]:
            self.windows = "single"
            self._pane_us, self._advance_us = pane_of(size_us, advance_us), advance_us
            self._panes_of_window = size_us // self._pane_us
            self._offset_us = round(conf[OFFSET_MS] * 1000)
        super()._open_windows(conf, context)

    def _add(self, acc: Any, values: Any) -> Any:
        """Add the values of a tuple, of whichever stream."""
        add = self._adders.get(type(values))
        if add is None:
            add = self._adders[type(values)] = self.aggregate.adder(getattr(values, "_fields", ()))
        return add(acc, values)

    def _panes(self, kept: Any) -> PaneWindow:
        return PaneWindow(self.aggregate, self._panes_of_window, kept, self._add)

    def _panes_of(self, window: KeyWindow) -> PaneWindow:
        """The panes of a window, which were pickled as what they hold."""
        if not isinstance(window.state, PaneWindow):
            window.state = self._panes(window.state)
        found: PaneWindow = window.state
        return found
