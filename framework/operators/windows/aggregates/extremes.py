"""The least and the greatest, and the few greatest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from framework.operators.windows.aggregates.base import Adder, Aggregate


class _Extreme(Aggregate[tuple[Any, ...], Any]):
    """Base of both: the accumulator is empty, or has the value that is ahead of all others.

    Of equal values the first one is kept. A value that is no number (NaN) is ahead of all. None is left out,
    as SQL leaves out NULL.
    """

    def create(self) -> tuple[Any, ...]:
        """As in the base class."""
        return ()

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        """As in the base class."""
        return self.add(first, second[0]) if second else first

    def result(self, acc: tuple[Any, ...]) -> Any:
        """As in the base class."""
        return acc[0] if acc else None


class Min(_Extreme):
    """The least value of a field; None of no values."""

    def add(self, acc: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
        """As in the base class."""
        if value is None:
            return acc
        return acc if acc and not (value < acc[0] or value != value) else (value,)


class Max(_Extreme):
    """The greatest value of a field; None of no values."""

    def add(self, acc: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
        """As in the base class."""
        if value is None:
            return acc
        return acc if acc and not (value > acc[0] or value != value) else (value,)


_HIGH: Final = 1
"""Index of the value of an entry that its rank depends on."""

Entry = tuple[Any, Any]
"""The shown value of a tuple, and the value that its rank depends on."""


class TopK(Aggregate[list[Entry], list[Any]]):
    """The greatest values of a field, the greatest one first; of equal values the earlier one.

    Values that are no numbers (NaN) are left out, and so is None.

    Args:
        field: the field.
        k: the number of values.
        of: the field whose values are in the result, of the tuples with the greatest values; by default those
            values themselves.

    Raises:
        ValueError: `k` is below 1, or `of` is given without a field.
    """

    def __init__(self, field: str | None = None, k: int = 10, *, of: str | None = None) -> None:
        super().__init__(field)
        if k < 1:
            raise ValueError(f"TopK: k is {k!r}, expected at least 1")
        if of is not None and field is None:
            raise ValueError(f"TopK: of={of!r} needs a field whose greatest values count")
        self.k = k
        """The number of values."""
        self.of = of
        """The field whose values are in the result; None for those that count themselves."""

    def create(self) -> list[Entry]:
        """As in the base class."""
        return []

    def add(self, acc: list[Entry], value: Any) -> list[Entry]:
        """As in the base class."""
        return self._with(acc, (value, value))

    def merge(self, first: list[Entry], second: list[Entry]) -> list[Entry]:
        """As in the base class."""
        return sorted(first + second, key=_high_of, reverse=True)[: self.k]  # keeps the order of equal ones

    def result(self, acc: list[Entry]) -> list[Any]:
        """As in the base class."""
        return [shown for shown, _ in acc]

    def adder(self, fields: Sequence[str]) -> Adder[list[Entry]]:
        """As in the base class."""
        if self.of is None or self.field is None:
            return super().adder(fields)
        shown, high = self.index_of(self.of, fields), self.index_of(self.field, fields)
        return lambda acc, values: self._with(acc, (values[shown], values[high]))

    def _with(self, acc: list[Entry], entry: Entry) -> list[Entry]:
        high = entry[_HIGH]
        if high is None or high != high or (len(acc) == self.k and not high > acc[-1][_HIGH]):
            return acc
        at = len(acc)
        while at and high > acc[at - 1][_HIGH]:
            at -= 1
        acc.insert(at, entry)
        del acc[self.k :]
        return acc

    def __repr__(self) -> str:
        of = "" if self.of is None else f", of={self.of!r}"
        return f"TopK({self.field!r}, {self.k}{of})"


def _high_of(entry: Entry) -> Any:
    return entry[_HIGH]
