"""A sliding window that is computed by panes, so that the cost of a tuple does not depend on its overlaps.

A pane is a stretch of time that lies in each window as a whole or not at all. Its length is the greatest
common divisor of the window's size and of its advance (J. Li, D. Maier, K. Tufte, V. Papadimos and P. A.
Tucker, "No pane, no gain", 2005). A tuple is added to its pane alone, and a window is made of panes:

- If accumulators are exact, as sums of integers are, panes are added to a running total, and subtracted from
  it as they leave.
- Others are merged in two stacks. The panes up to a border are in front, each merged with the panes between
  it and the border. After the border there is one accumulator of all that came. Borders are the multiples of
  a window's number of panes, so they move with time and not with the input. So the order in which panes are
  merged, and with it each bit of a float, is a function of the window's content. A pane is merged twice.

Both are made again from the panes when they are needed, so that only the panes have to be kept.
"""

from __future__ import annotations

from typing import Any, Final

from framework.operators.windows.aggregates.base import Acc, Adder, Aggregate
from framework.operators.windows.aggregates.several import Aggregates

_NOTHING: Final[Any] = object()
"""The value in place of the accumulator of a pane that has none."""

Panes = dict[int, Any]
"""The accumulators of the panes that have any tuples, by the number of the pane."""


class PaneWindow:
    """A window that slides over panes, which are numbered along time.

        window = PaneWindow(Sum("amount"), count=6)
        window.add(4, 12)
        window.add(7, 30)
        window.result(10)  # 42, of panes 4 to 9

    Args:
        aggregate: what is computed of the values.
        count: how many panes a window has.
        panes: the `panes` of another one, which this one continues; a window is pickled as these.
        add: adds a value to an accumulator; by default that of the aggregate.
    """

    __slots__ = ("_add", "_folds", "_read", "_single", "aggregate", "count", "panes")

    def __init__(
        self,
        aggregate: Aggregate[Any, Any],
        count: int,
        panes: Panes | None = None,
        add: Adder[Any] | None = None,
    ) -> None:
        self.aggregate = aggregate
        self._add = aggregate.add if add is None else add
        self.count = count
        """The number of panes in a window."""
        self.panes: Panes = {} if panes is None else panes
        """All that has to be kept of the window: accumulators by the numbers of the panes."""
        self._read: int | None = None
        """The number behind the last pane that was merged with any other."""
        self._single = not isinstance(aggregate, Aggregates)
        self._folds: list[TwoStacks] = []
        """The folds that merge the panes, for each aggregate, once there are two panes."""

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as its panes alone, from which it can be made again."""
        return dict, (self.kept,)

    @property
    def kept(self) -> Panes:
        """The part that is pickled in its place: its panes alone, from which it can be made again."""
        return self.panes

    def add(self, pane: int, value: Any) -> None:
        """Add a value behind the others of a pane."""
        self.put(pane, self._add(self.get(pane), value))

    def get(self, pane: int) -> Any:
        """The accumulator of a pane; one of no values where it has none."""
        acc = self.panes.get(pane, _NOTHING)
        return self.aggregate.create() if acc is _NOTHING else acc

    def put(self, pane: int, acc: Any) -> None:
        """Have an accumulator as that of a pane."""
        self.panes[pane] = acc
        if self._read is not None and pane < self._read:
            self._forget()

    def accumulated(self, end: int) -> Any:
        """The accumulator of the values in the window that ends before a pane.

        It is not to be changed, and holds until the next call.

        Args:
            end: the number of that pane. It may be any, but windows are cheap in the order of their ends.
        """
        first = end - self.count
        if not self._folds:
            if len(self.panes) == 1:
                ((pane, acc),) = self.panes.items()
                if first <= pane < end and _is_exact(self.aggregate, acc):
                    return acc
            self._folds = self._made()
        if self._read is None or end > self._read:
            self._read = end
        if self._single:
            return self._folds[0].of(first, end)
        return [fold.of(first, end) for fold in self._folds]

    def result(self, end: int) -> Any:
        """The result for the window that ends before a pane; arguments as of `accumulated`."""
        return self.aggregate.result(self.accumulated(end))

    def has_any(self, end: int) -> bool:
        """True if any value is in the window that ends before a pane."""
        first = end - self.count
        return any(first <= pane < end for pane in self.panes)

    def drop(self, before: int) -> None:
        """Let go of the panes before one."""
        for fold in self._folds:
            fold.leave(before)
        panes = self.panes
        for pane in [pane for pane in panes if pane < before]:
            del panes[pane]

    def _made(self) -> list[TwoStacks]:
        of = self.aggregate
        parts = of.parts if isinstance(of, Aggregates) else (of,)
        return [
            (RunningTotal if _subtracts(part) else TwoStacks)(
                part, self.count, self.panes, None if self._single else index
            )
            for index, part in enumerate(parts)
        ]

    def _forget(self) -> None:
        self._read = None
        for fold in self._folds:
            fold.forget()


class TwoStacks:
    """Merges panes on both sides of a border, for one aggregate.

    Args:
        aggregate: the aggregate.
        count: how many panes a window has.
        panes: the window's.
        index: where its accumulator is in that of a pane; None where it is all of it.
    """

    __slots__ = ("_aggregate", "_back", "_border", "_count", "_end", "_first", "_front", "_index", "_panes")

    def __init__(self, aggregate: Aggregate[Any, Any], count: int, panes: Panes, index: int | None) -> None:
        self._aggregate = aggregate
        self._count = count
        self._panes = panes
        self._index = index
        self._first = 0
        """The number of the pane from which on panes in front are there."""
        self._end = 0
        """The number behind the last pane that was merged."""
        self._border: int | None = None
        """The number of the first pane behind the border; None where nothing was merged yet."""
        self._front: list[tuple[int, Any]] = []
        """The panes before the border, the first one on top, each merged with all up to the border."""
        self._back: Any = _NOTHING
        """The accumulator of the panes behind the border."""

    def of(self, first: int, end: int) -> Any:
        """The accumulator of the panes from one up to the one before another."""
        border = first - first % self._count + self._count
        if border != self._border or first < self._first or end < self._end:
            self._turn(first, border)
        TwoStacks.leave(self, first)  # a running total lets go of panes by itself
        for pane in _between(self._panes, self._end, end):
            acc = self._acc(pane)
            self._back = self._aggregate.absorb(
                self._aggregate.create() if self._back is _NOTHING else self._back, acc
            )
        self._end = end
        if not self._front:
            return self._aggregate.create() if self._back is _NOTHING else self._back
        merged = self._front[-1][1]
        return merged if self._back is _NOTHING else self._aggregate.merge(merged, self._back)

    def leave(self, before: int) -> None:
        """Let go of the panes before one."""
        self._first = max(self._first, before)
        while self._front and self._front[-1][0] < before:
            self._front.pop()

    def forget(self) -> None:
        """Note that a pane has changed that was merged."""
        self._border = None

    def _turn(self, first: int, border: int) -> None:
        """Merge the panes before a border, the last one first."""
        merged: Any = _NOTHING
        self._front, self._back = [], _NOTHING
        for pane in reversed(_between(self._panes, first, border)):
            acc = self._acc(pane)
            merged = acc if merged is _NOTHING else self._aggregate.merge(acc, merged)
            self._front.append((pane, merged))
        self._first, self._border, self._end = first, border, border

    def _acc(self, pane: int) -> Any:
        acc = self._panes[pane]
        return acc if self._index is None else acc[self._index]


class RunningTotal(TwoStacks):
    """Adds panes to a total and subtracts them, while those of a window are exact; merges them otherwise."""

    __slots__ = ("_inexact", "_since", "_total", "_until")

    def __init__(self, aggregate: Aggregate[Any, Any], count: int, panes: Panes, index: int | None) -> None:
        super().__init__(aggregate, count, panes, index)
        self._total: Any = _NOTHING
        self._since = self._until = 0
        """The first pane of the total, and the one behind its last."""
        self._inexact = 0
        """The number of panes in between that are not exact, and not in the total."""

    def of(self, first: int, end: int) -> Any:
        """As in the base class."""
        if self._total is _NOTHING or first < self._since or end < self._until or first >= self._until:
            self._total, self._inexact = self._aggregate.create(), 0
            self._since = self._until = first
        for pane in _between(self._panes, self._until, end):
            acc = self._acc(pane)
            if self._aggregate.is_exact(acc):
                self._total = self._aggregate.absorb(self._total, acc)
            else:
                self._inexact += 1
        self._until = end
        if first > self._since:
            self.leave(first)
        return super().of(first, end) if self._inexact else self._total

    def leave(self, before: int) -> None:
        """As in the base class; they are subtracted from the total."""
        if self._front:
            super().leave(before)
        if self._total is _NOTHING or before <= self._since:
            return
        for pane in _between(self._panes, self._since, min(before, self._until)):
            acc = self._acc(pane)
            if self._aggregate.is_exact(acc):
                self._total = self._aggregate.subtract(self._total, acc)
            else:
                self._inexact -= 1
        self._since = before

    def forget(self) -> None:
        """As in the base class."""
        super().forget()
        self._total = _NOTHING


def _is_exact(aggregate: Aggregate[Any, Any], acc: Any) -> bool:
    """True if an accumulator of a pane can be subtracted without a trace, by each of its aggregates."""
    if not isinstance(aggregate, Aggregates):
        return aggregate.is_exact(acc)
    return all([part.is_exact(acc[index]) for index, part in enumerate(aggregate.parts)])


def _subtracts(aggregate: Aggregate[Acc, Any]) -> bool:
    return type(aggregate).subtract is not Aggregate.subtract


def _between(panes: Panes, first: int, end: int) -> list[int]:
    """The numbers of panes that there are, from one up to the one before another, in ascending order."""
    if end - first <= len(panes):
        if end - first == 1:  # as most often
            return [first] if first in panes else []
        return [pane for pane in range(first, end) if pane in panes]
    return sorted([pane for pane in panes if first <= pane < end])
