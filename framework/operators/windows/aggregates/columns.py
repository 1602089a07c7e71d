"""Aggregates of whole columns: the results of `Aggregate.add` for one value after another, by NumPy.

The values of a column are added to the accumulators of several groups at once, of keys for instance. Each
group gets its values in their order, floats among them. So the accumulators are the same to the last bit,
however the tuples are divided into columns, and whichever of them are added one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from framework.operators.windows.aggregates.base import Aggregate, OneByOneError
from framework.operators.windows.aggregates.extremes import Max, Min
from framework.operators.windows.aggregates.numbers import Count, Mean, StandardDeviation, Sum, Variance
from framework.operators.windows.aggregates.several import Aggregates

Array = np.ndarray[Any, Any]
Accs = list[Any]
ColumnOf = Callable[[str | None], Array]
"""The values of a field as integers of 64 bits or as floats; None names the only field."""
ColumnAdder = Callable[[Accs, Array, ColumnOf], Accs]
"""Adds tuples to accumulators: is given these, for each tuple the index of its group among them, and the
columns. The accumulators are not changed, but for others returned."""

_MOST: Final = 2**62
"""Sums of integers up to this have room in 64 bits."""
_NUMBERS: Final = (int, float)


def column_adder(aggregate: Aggregate[Any, Any]) -> ColumnAdder | None:
    """Return the function that adds columns to an aggregate's accumulators; None if values are added singly.

    The function raises `OneByOneError` for columns that it cannot add exactly as `Aggregate.add` does.
    """
    if type(aggregate) is Aggregates:
        return _several([column_adder(part) for part in aggregate.parts])
    made = _ADDERS.get(type(aggregate))  # a derived class may add otherwise
    return None if made is None else made(aggregate)


def _several(parts: Sequence[ColumnAdder | None]) -> ColumnAdder | None:
    adders = [part for part in parts if part is not None]
    if len(adders) < len(parts):
        return None

    def add(accs: Accs, groups: Array, column: ColumnOf) -> Accs:
        of_parts = zip(*accs, strict=True)
        added = [part(list(own), groups, column) for part, own in zip(adders, of_parts, strict=True)]
        return list(map(list, zip(*added, strict=True)))

    return add


def _count(aggregate: Aggregate[Any, Any]) -> ColumnAdder:
    return lambda accs, groups, column: [
        acc + more for acc, more in zip(accs, np.bincount(groups, minlength=len(accs)).tolist(), strict=True)
    ]


def _sum(aggregate: Aggregate[Any, Any]) -> ColumnAdder:
    return lambda accs, groups, column: _summed(accs, groups, column(aggregate.field))


def _mean(aggregate: Aggregate[Any, Any]) -> ColumnAdder:
    def add(accs: Accs, groups: Array, column: ColumnOf) -> Accs:
        sums = _summed([total for _, total in accs], groups, column(aggregate.field))
        counts = np.bincount(groups, minlength=len(accs)).tolist()
        return [(acc[0] + more, total) for acc, more, total in zip(accs, counts, sums, strict=True)]

    return add


def _variance(aggregate: Aggregate[Any, Any]) -> ColumnAdder:
    def add(accs: Accs, groups: Array, column: ColumnOf) -> Accs:
        values = column(aggregate.field)
        if values.dtype != np.int64 or np.abs(values).max(initial=0) >= 2**31:
            raise OneByOneError
        counts = np.bincount(groups, minlength=len(accs)).tolist()
        sums = _summed([acc[1] for acc in accs], groups, values)
        squares = _summed([acc[2] for acc in accs], groups, values * values)
        return [
            (acc[0] + more, first, second)
            for acc, more, first, second in zip(accs, counts, sums, squares, strict=True)
        ]

    return add


def _summed(accs: Accs, groups: Array, values: Array) -> Accs:
    if values.dtype == np.int64:
        least, most = int(values.min(initial=0)), int(values.max(initial=0))
        if max(-least, most) * len(values) >= _MOST or not all(type(acc) is int for acc in accs):
            raise OneByOneError
        sums = np.zeros(len(accs), np.int64)
        np.add.at(sums, groups, values)
        return [acc + more for acc, more in zip(accs, sums.tolist(), strict=True)]
    if not all(type(acc) in _NUMBERS for acc in accs):
        raise OneByOneError
    totals = np.array(accs, np.float64)
    with np.errstate(all="ignore"):
        np.add.at(totals, groups, values)
    found: Accs = totals.tolist()
    return found


def _least(aggregate: Aggregate[Any, Any]) -> ColumnAdder:
    return lambda accs, groups, column: _extreme(aggregate, np.minimum, accs, groups, column)


def _greatest(aggregate: Aggregate[Any, Any]) -> ColumnAdder:
    return lambda accs, groups, column: _extreme(aggregate, np.maximum, accs, groups, column)


def _extreme(
    aggregate: Aggregate[Any, Any], better: np.ufunc, accs: Accs, groups: Array, column: ColumnOf
) -> Accs:
    values = column(aggregate.field)
    if values.dtype != np.int64:
        zeros = values[values == 0]
        if np.signbit(zeros).any() and not np.signbit(zeros).all():  # of which the first one is kept
            raise OneByOneError
    found = np.empty(len(accs), values.dtype)
    found[groups] = values  # any value of each group is as good as another to begin with
    with np.errstate(all="ignore"):
        better.at(found, groups, values)
    return [aggregate.add(acc, value) for acc, value in zip(accs, found.tolist(), strict=True)]


_ADDERS: Final[Mapping[type, Callable[[Aggregate[Any, Any]], ColumnAdder]]] = {
    Count: _count,
    Sum: _sum,
    Mean: _mean,
    Variance: _variance,
    StandardDeviation: _variance,
    Min: _least,
    Max: _greatest,
}
