"""Values by their position in the order of the run: the first one, the last one, all of them."""

from __future__ import annotations

from typing import Any

from framework.operators.windows.aggregates.base import Aggregate


class First(Aggregate[tuple[Any, ...], Any]):
    """The value of the first tuple; None of no tuples."""

    def create(self) -> tuple[Any, ...]:
        """As in the base class."""
        return ()

    def add(self, acc: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
        """As in the base class."""
        return acc or (value,)

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        """As in the base class."""
        return first or second

    def result(self, acc: tuple[Any, ...]) -> Any:
        """As in the base class."""
        return acc[0] if acc else None


class Last(First):
    """The value of the last tuple; None of no tuples."""

    def add(self, acc: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
        """As in the base class."""
        return (value,)

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        """As in the base class."""
        return second or first


class Collect(Aggregate[list[Any], list[Any]]):
    """All values of a field in their order; without a field all tuples, each as a tuple of its values."""

    def create(self) -> list[Any]:
        """As in the base class."""
        return []

    def add(self, acc: list[Any], value: Any) -> list[Any]:
        """As in the base class."""
        acc.append(value)
        return acc

    def merge(self, first: list[Any], second: list[Any]) -> list[Any]:
        """As in the base class."""
        return first + second

    def absorb(self, acc: list[Any], part: list[Any]) -> list[Any]:
        """As in the base class."""
        acc += part
        return acc

    def result(self, acc: list[Any]) -> list[Any]:
        """As in the base class."""
        return acc[:]

    def is_exact(self, acc: list[Any]) -> bool:
        """As in the base class."""
        return True

    def subtract(self, acc: list[Any], part: list[Any]) -> list[Any]:
        """As in the base class."""
        del acc[: len(part)]
        return acc
