"""The base of aggregate functions, which fold the tuples of a window into an accumulator, and that into a
result.

Its functions are those of Flink's ``AggregateFunction``; Storm's ``CombinerAggregator`` has the first three.
A window is folded in parts, its panes, so the function that joins two accumulators must be associative.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from framework.common.coroutines import check_methods_await_nothing
from framework.model.topology import did_you_mean

Acc = TypeVar("Acc")
"""An accumulator; it must be such that `pickle` takes it."""
Result = TypeVar("Result")

Adder = Callable[[Acc, Sequence[Any]], Acc]
"""Adds the values of a tuple to an accumulator, and returns what has become of it."""


class OneByOneError(Exception):
    """Tuples cannot be added at once exactly as `Aggregate.add` adds them one by one. Nothing has changed."""


class Aggregate(ABC, Generic[Acc, Result]):
    """Folds values into a result, in parts that can be merged.

        class Product(Aggregate[int, int]):
            def create(self):
                return 1

            def add(self, acc, value):
                return acc * value

            def merge(self, first, second):
                return first * second

    Values are added in the order of the run, and parts are merged in the same order: so a function need not
    be commutative. It must be associative, or nearly so, as float sums are: the order of merging is fixed,
    and the bytes are the same in every run.

    An aggregate keeps nothing of the values in itself: all of it is in the accumulators.
    """

    names: Sequence[str] = ("value",)
    """Names of the values of a result, by which an operator calls them that declares none."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_methods_await_nothing(cls)

    def __init__(self, field: str | None = None) -> None:
        """
        Args:
            field: the field whose value is added of each tuple; None for the only value of a tuple, or for a
                tuple of all values, where it has several.
        """
        self.field = field
        """The field whose value is added; None for all values."""

    @abstractmethod
    def create(self) -> Acc:
        """An accumulator of no values."""

    @abstractmethod
    def add(self, acc: Acc, value: Any) -> Acc:
        """The accumulator with one more value behind all others: a new one, or the same one, changed."""

    @abstractmethod
    def merge(self, first: Acc, second: Acc) -> Acc:
        """The accumulator of the values of one, and behind them those of another.

        Neither is changed, nor may `add` change it through what is returned.
        """

    def absorb(self, acc: Acc, part: Acc) -> Acc:
        """As `merge`, but the first accumulator may be changed and returned; by default it is not."""
        return self.merge(acc, part)

    def result(self, acc: Acc) -> Result:
        """Return the result of a window with this accumulator; by default the accumulator itself.

        It is not changed.
        """
        return acc  # type: ignore[return-value]

    def row(self, acc: Acc) -> tuple[Any, ...]:
        """The values of the result, one for each of the names."""
        return (self.result(acc),)

    def is_exact(self, acc: Acc) -> bool:
        """True if `subtract` takes this accumulator away without a trace; by default it takes none away.

        If it does so for all parts of a window, these leave the window by subtraction. Otherwise parts are
        merged again, which takes some more time and gives the same result.
        """
        return False

    def subtract(self, acc: Acc, part: Acc) -> Acc:
        """The accumulator of the same values without those of a part, which are the first of them.

        The inverse of `absorb` for accumulators that are exact. It may change `acc`, but not the part.
        """
        raise NotImplementedError(f"{type(self).__name__} has exact accumulators, but no subtract")

    def adder(self, fields: Sequence[str]) -> Adder[Acc]:
        """The function that adds tuples with certain fields.

        Args:
            fields: their names, in the order of the values.

        Raises:
            ValueError: the field of this aggregate is none of them.
        """
        if self.field is None and len(fields) != 1:
            return self.add
        index, add = 0 if self.field is None else self.index_of(self.field, fields), self.add
        return lambda acc, values: add(acc, values[index])

    def index_of(self, field: str, fields: Sequence[str]) -> int:
        """Return the index of the field of a name; errors as of `adder`."""
        if field in fields:
            return list(fields).index(field)
        near = did_you_mean(field, fields)
        raise ValueError(f"{self!r}: no field {field!r} in {list(fields)}{near}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.field is None else repr(self.field)})"
