"""Several aggregates of the same tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from framework.operators.windows.aggregates.base import Adder, Aggregate


class Aggregates(Aggregate[list[Any], tuple[Any, ...]]):
    """Several aggregates of the same tuples, as in ``Aggregates(total=Sum("amount"), n=Count())``.

    The result is a tuple of their results, in that order.

    Raises:
        TypeError: there is none, or one is no aggregate of one value.
    """

    def __init__(self, **parts: Aggregate[Any, Any]) -> None:
        super().__init__()
        for name, part in parts.items():
            if not isinstance(part, Aggregate) or isinstance(part, Aggregates):
                raise TypeError(f"Aggregates({name}={part!r}): expected an aggregate, such as Sum('amount')")
        if not parts:
            raise TypeError("Aggregates(): expected at least one, such as total=Sum('amount')")
        self.names = tuple(parts)
        self.parts = tuple(parts.values())
        """The aggregates, in the order of their results."""
        self._shows_all = all(type(part).result is Aggregate.result for part in self.parts)
        """True if each result is its accumulator itself."""

    def create(self) -> list[Any]:
        """As in the base class."""
        return [part.create() for part in self.parts]

    def add(self, acc: list[Any], value: Any) -> list[Any]:
        """As in the base class; each aggregate adds the value as it is."""
        return [part.add(acc[index], value) for index, part in enumerate(self.parts)]

    def merge(self, first: list[Any], second: list[Any]) -> list[Any]:
        """As in the base class."""
        return [part.merge(first[index], second[index]) for index, part in enumerate(self.parts)]

    def absorb(self, acc: list[Any], part: list[Any]) -> list[Any]:
        """As in the base class."""
        return [one.absorb(acc[index], part[index]) for index, one in enumerate(self.parts)]

    def result(self, acc: list[Any]) -> tuple[Any, ...]:
        """As in the base class."""
        if self._shows_all:
            return tuple(acc)
        return tuple([part.result(acc[index]) for index, part in enumerate(self.parts)])

    def row(self, acc: list[Any]) -> tuple[Any, ...]:
        """As in the base class."""
        return tuple(acc) if self._shows_all else self.result(acc)

    def adder(self, fields: Sequence[str]) -> Adder[list[Any]]:
        """As in the base class."""
        adders = [part.adder(fields) for part in self.parts]
        return lambda acc, values: [add(acc[index], values) for index, add in enumerate(adders)]

    def __repr__(self) -> str:
        parts = zip(self.names, self.parts, strict=True)
        return f"Aggregates({', '.join(f'{name}={part!r}' for name, part in parts)})"
