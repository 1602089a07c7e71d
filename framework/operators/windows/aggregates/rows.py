"""Aggregates of several rows at once: what `Aggregate.add` makes of one row after another, in fewer calls.

Only of aggregates whose accumulators are never changed, so that nothing has happened where a row cannot be
added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from framework.operators.windows.aggregates.base import Aggregate
from framework.operators.windows.aggregates.extremes import Max, Min
from framework.operators.windows.aggregates.numbers import Count, Mean, StandardDeviation, Sum, Variance
from framework.operators.windows.aggregates.several import Aggregates

Row = tuple[Any, ...]
A = TypeVar("A")
RowsAdder = Callable[[A, Sequence[Row]], A]
"""Adds rows to an accumulator, in their order, and returns another one."""


def rows_adder(aggregate: Aggregate[Any, Any], fields: Sequence[str], first: int) -> RowsAdder[Any] | None:
    """Return the function that adds rows to an aggregate's accumulators; None if they are added one by one.

    Args:
        aggregate: the aggregate.
        fields: names of the values that are aggregated.
        first: the index of the first of these in a row.
    """
    if type(aggregate) is Aggregates:
        return _several([rows_adder(part, fields, first) for part in aggregate.parts])
    if type(aggregate) is Count:
        return lambda acc, rows: acc + len(rows)
    fold = _FOLDS.get(type(aggregate))  # a derived class may add otherwise
    if fold is None or (aggregate.field is None and len(fields) != 1):
        return None
    index = first if aggregate.field is None else first + aggregate.index_of(aggregate.field, fields)
    # None is left out here, for all of them: `_mean` counts what is given.
    return lambda acc, rows: fold(
        aggregate, acc, [value for row in rows if (value := row[index]) is not None]
    )


def _several(parts: Sequence[RowsAdder[Any] | None]) -> RowsAdder[Any] | None:
    adders = [part for part in parts if part is not None]
    if len(adders) < len(parts):
        return None
    if len(adders) == 1:
        (only,) = adders
        return lambda accs, rows: [only(accs[0], rows)]
    return lambda accs, rows: [add(acc, rows) for add, acc in zip(adders, accs, strict=True)]


def _folded(aggregate: Aggregate[Any, Any], acc: Any, values: list[Any]) -> Any:
    add = aggregate.add
    for value in values:
        acc = add(acc, value)
    return acc


def _summed(aggregate: Aggregate[Any, Any], acc: Any, values: list[Any]) -> Any:
    for value in values:  # not by sum(), which rounds floats otherwise from Python 3.12 on
        acc = acc + value
    return acc


def _mean(aggregate: Aggregate[Any, Any], acc: Any, values: list[Any]) -> Any:
    return acc[0] + len(values), _summed(aggregate, acc[1], values)


_FOLDS: Final[Mapping[type, Callable[[Aggregate[Any, Any], Any, list[Any]], Any]]] = {
    Sum: _summed,
    Mean: _mean,
    Variance: _folded,
    StandardDeviation: _folded,
    Min: _folded,
    Max: _folded,
}
