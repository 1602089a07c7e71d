"""The operator A+ of the STRETCH paper: an O+ whose windows are aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.model.topology import DEFAULT_STREAM
from framework.operators.components.oplus import OPlus
from framework.operators.components.tuple import Tuple
from framework.operators.windows.aggregates import Aggregate
from framework.operators.windows.aggregates.base import Adder
from framework.operators.windows.aggregates.folding import Folding, PaneFolding
from framework.operators.windows.key_window import KeyWindow
from framework.operators.windows.spec import LATENESS_MS, spec_in
from framework.operators.windows.stretches import RowWindows, WindowAdder, folds_stretches


class APlus(OPlus):
    """Emits for each window of a key the key and the result of an aggregate.

        class Spent(APlus):
            outputs = ["user", "total"]
            size, advance = "1h", "1m"
            aggregate = Sum("amount")

    Windows that overlap are made of panes: a tuple is added to one pane, in however many windows it is, and
    as a window slides on, panes leave it (`windows.aggregates.panes`). With allowed lateness each
    window has an accumulator of its own.
    """

    aggregate: Aggregate[Any, Any]
    """The aggregate of the tuples of a window."""

    _folding: Folding
    _output_count = 0

    def create(self) -> Any:
        """As in the base class: the panes of a window, or an accumulator."""
        return self._folding.create()

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> None:
        """As in the base class."""
        time_us = self.window_state.now() if self._late is None else self._late.time_of(tup)
        self._folding.add(window, time_us, tup.values)

    def output(self, window: KeyWindow) -> list[Sequence[Any]]:
        """As in the base class: the values of the key, and those of the result."""
        row = self.aggregate.row(self._folding.accumulated(window))
        # Keys that the class makes are of as many values as its outputs leave for them.
        count = self.window_state.key_fields or self._output_count - len(row)
        is_of_several = count > 1 and isinstance(window.key, tuple)
        return [(*window.key, *row) if is_of_several else (window.key, *row)]

    def slide(self, window: KeyWindow) -> Any:
        """As in the base class: the panes before the next window go."""
        return self._folding.slide(window)

    def _open_windows(self, conf: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        self._adders: dict[type, Adder[Any]] = {}
        spec = spec_in(conf)
        assert spec is not None
        size_us, advance_us = spec.length_us or 0, spec.slide_us or 0
        if 0 < advance_us < size_us and not conf[LATENESS_MS]:
            self.windows = "single"
            self._folding = PaneFolding(self.aggregate, self._add, spec.grid())
        else:
            self._folding = Folding(self.aggregate, self._add)
        super()._open_windows(conf, context)
        self._output_count = len(context.get("stream->outputfields", {}).get(DEFAULT_STREAM, ()))

    def _window_adder(self, *, of_columns: bool) -> WindowAdder | None:
        """The adder of many tuples at once, columns or rows, into its windows; None if there is none.

        To be called once the windows are open. If there is one, nothing is emitted below a tuple.
        """
        takes_itself = type(self).update is not APlus.update or type(self).create is not APlus.create
        if takes_itself or self.derives_keys or self.inputs == 2 or self._late is not None:
            return None
        if not folds_stretches(self.window_state, self._folding):
            return None
        made: type[WindowAdder] = RowWindows
        if of_columns:
            from framework.operators.windows.columns import ColumnWindows

            made = ColumnWindows
        return made(self.window_state, self._folding, self.aggregate, self._values_of)

    def _values_of(self, fields: Sequence[str]) -> tuple[int, Sequence[str]]:
        """Return the values of a tuple that are aggregated: the index of the first one, and their names."""
        return 0, fields

    def _add(self, acc: Any, values: Any) -> Any:
        """Add the values of a tuple, of whichever stream."""
        add = self._adders.get(type(values))
        if add is None:
            add = self._adders[type(values)] = self._adder(getattr(values, "_fields", ()))
        return add(acc, values)

    def _adder(self, fields: Sequence[str]) -> Adder[Any]:
        first, names = self._values_of(fields)
        add = self.aggregate.adder(names)
        return (lambda acc, values: add(acc, values[first:])) if first else add
