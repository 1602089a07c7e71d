"""Bolts that call functions for the windows of each key, as operators over windows (O+).

Each takes the form of its windows as keywords:

- `size` and perhaps `advance`, durations such as ``10s``; perhaps an `offset`, and a `zone` such as
  ``Europe/Berlin`` whose days, weeks or months they are (``1d``);
- `gap`, of sessions;
- `count` and perhaps `slide`, of windows of so many tuples with one key.

In YAML:

    - id: "totals"
      className: "viperstorm.streams.AggregateWindow"
      constructorArgs:
        aggregates: {total: [sum, amount], n: [count]}
        inputs: ["user", "amount"]
        size: "60s"
        advance: "10s"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from framework.frontends.streams.functions import Function, found, values_of
from framework.operators.components import APlus
from framework.operators.windows import Count as Tuples
from framework.operators.windows import KeyWindow
from framework.operators.windows.aggregates import Aggregate, Collect
from framework.operators.windows.aggregates.written import Written, read
from viper.rows import kept

Row = tuple[Any, ...]
BOUNDS = ("start", "end")
"""Names of the fields with the bounds of a window."""


class WindowStep(APlus):
    """Base of the bolts that fold the tuples of a window.

    A window that overlaps with others is made of panes, so a tuple is added once, however many windows it is
    in. An aggregate gets the values beside the key.

    Args:
        aggregate: what is computed of the tuples.
        inputs: names of the values of each tuple.
        width: how many of the first of them are the key, by which the tuples are grouped.
        fields: names of the values that are emitted.
        size: how long a window is.
        advance: from the start of one window to that of the next; as long as a window, if None.
        offset: how much later than at the multiples of this windows start; or earlier, if it is below 0.
        zone: the zone whose days, weeks or months size and advance are; UTC, if None.
        gap: the time without a tuple that ends a session.
        count: how many tuples a window has.
        slide: from the first tuple of one window to that of the next; as many as a window has, if None.

    Raises:
        ValueError: the form of the windows is said twice, by halves or not at all, or a field is not there.
    """

    def __init__(
        self,
        aggregate: Aggregate[Any, Any],
        inputs: Sequence[str],
        width: int,
        fields: Sequence[str],
        *,
        size: timedelta | int | str | None = None,
        advance: timedelta | int | str | None = None,
        offset: timedelta | int | str | None = None,
        zone: str | ZoneInfo | None = None,
        gap: timedelta | int | str | None = None,
        count: int | None = None,
        slide: int | None = None,
    ) -> None:
        forms = {"size": size, "gap": gap, "count": count}
        given = [name for name, value in forms.items() if value is not None]
        if len(given) != 1 or (advance is not None and size is None) or (slide is not None and count is None):
            raise ValueError(
                "expected one form of windows: size and perhaps advance, gap, or count and perhaps slide; "
                f"found {', '.join(given) or 'none'}"
            )
        if size is None and (offset is not None or zone is not None):
            raise ValueError(f"expected offset and zone with size alone, found {given[0]}")
        if not 0 < width <= len(inputs):
            raise ValueError(f"width is {width!r}: expected 1 to {len(inputs)}, the number of inputs")
        super().__init__(
            size if count is None else Tuples(count),
            advance if slide is None else Tuples(slide),
            offset=offset,
            zone=zone,
            gap=gap,
        )
        self._fields = tuple(fields)
        self._width = width
        self._names = tuple(inputs[width:])
        self.aggregate = aggregate
        aggregate.adder(self._names)  # which refuses a field that is not there

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """These names."""
        return list(self._fields)

    def rows(self, window: KeyWindow, acc: Any) -> Iterable[Any]:
        """Return the rows to emit for a window that has ended.

        Args:
            window: the window.
            acc: the accumulator of its values.
        """
        raise NotImplementedError

    def output(self, window: Any) -> Iterable[Any]:  # type: ignore[override]
        """As in the base class."""
        return self.rows(window, self._folding.accumulated(window))

    def _values_of(self, fields: Sequence[str]) -> tuple[int, Sequence[str]]:
        return self._width, self._names

    def _key(self, window: KeyWindow) -> Row:
        return (window.key,) if self._width == 1 else tuple(window.key)


class AggregateWindow(WindowStep):
    """Emits for each window of a key the key and the results of aggregates.

    Args:
        aggregates: an aggregate, or as YAML has it: ``{total: [sum, amount], n: [count]}``.
        inputs: as of `WindowStep`.
        width: likewise.
        fields: names of the results; by default those of the aggregates.
        bounds: whether the window's start and end come between the key and the results, in microseconds.
        form: as of `WindowStep`, by keyword.
    """

    def __init__(
        self,
        aggregates: Written,
        inputs: Sequence[str],
        width: int = 1,
        fields: Sequence[str] | None = None,
        *,
        bounds: bool = False,
        **form: Any,
    ) -> None:
        aggregate = read(aggregates)
        names = aggregate.names if fields is None else fields
        super().__init__(
            aggregate, inputs, width, (*inputs[:width], *(BOUNDS if bounds else ()), *names), **form
        )
        self._bounds = bounds

    def rows(self, window: KeyWindow, acc: Any) -> Iterable[Row]:
        """As in the base class."""
        row = self.aggregate.row(acc)
        if not self._bounds:
            return ((*self._key(window), *row),)
        if self._width == 1:
            return ((window.key, window.start, window.end, *row),)
        return ((*window.key, window.start, window.end, *row),)


class Reduce(Aggregate[Row, Any]):
    """The result of an associative function that combines all values, two at a time.

    Args:
        function: the function, or its dotted path. It may change its first argument, which is its own.
        fields: names of the values; of several each value is a tuple.
    """

    def __init__(self, function: Function, fields: Sequence[str] = ("value",)) -> None:
        super().__init__()
        self._function = found(function)
        self._fields = tuple(fields)

    def create(self) -> Row:
        """As in the base class."""
        return ()

    def add(self, acc: Row, value: Any) -> Row:
        """As in the base class."""
        if not acc:
            return (kept(value),)  # a tuple is in several windows, and other components have it
        made = self._function(acc[0], value)
        return (made if len(self._fields) == 1 else values_of(made, self._fields),)

    def merge(self, first: Row, second: Row) -> Row:
        """As in the base class; the function gets copies, as it may change them."""
        if not (first and second):
            return first or second
        return self.add((kept(first[0]),), second[0])

    def result(self, acc: Row) -> Any:
        """As in the base class."""
        return acc[0]


class ReduceWindow(WindowStep):
    """Emits for each window of a key the key and what a function makes of the values.

    Args:
        function: makes one value of two, or a tuple of values of two tuples; or its dotted path. It must be
            associative.
        inputs: as of `WindowStep`, and the names of what is emitted.
        width: likewise.
        form: likewise, by keyword.
    """

    def __init__(self, function: Function, inputs: Sequence[str], width: int = 1, **form: Any) -> None:
        super().__init__(Reduce(function, inputs[width:]), inputs, width, inputs, **form)

    def rows(self, window: KeyWindow, acc: Any) -> Iterable[Row]:
        """As in the base class."""
        value = self.aggregate.result(acc)
        values = value if len(self._fields) - self._width > 1 else (value,)
        return [(*self._key(window), *values)]


class ProcessWindow(WindowStep):
    """Emits for each window of a key what a function returns or yields for it.

    Args:
        function: called with the window, which has a key, a start and an end, and with a list of its values.
            These are the values beside the key, or tuples if there are several. Or its dotted path.
        inputs: as of `WindowStep`.
        width: likewise.
        fields: names of the values of a row that it returns; of one field each is a value by itself.
        form: as of `WindowStep`, by keyword.
    """

    def __init__(
        self,
        function: Function,
        inputs: Sequence[str],
        width: int = 1,
        fields: Sequence[str] = ("value",),
        **form: Any,
    ) -> None:
        super().__init__(Collect(), inputs, width, fields, **form)
        self._function = found(function)

    def rows(self, window: KeyWindow, acc: Any) -> Iterable[Any]:
        """As in the base class."""
        made = self._function(window, self.aggregate.result(acc))
        if not isinstance(made, Iterable):
            raise TypeError(
                f"the function has returned {made!r:.200} for a window: expected a list of what it emits"
            )
        if len(self._fields) > 1:
            return [values_of(row, self._fields) for row in made]
        return [(value,) for value in made]
