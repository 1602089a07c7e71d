"""Counts of different values: exact, or approximate and in little memory."""

from __future__ import annotations

from enum import Enum
from types import NoneType
from typing import Any, Final

from framework.operators.windows.aggregates import hyperloglog
from framework.operators.windows.aggregates.base import Aggregate
from framework.operators.windows.aggregates.hyperloglog import Registers
from viper.hashing import comparable, placing_hash


class _Value(Enum):
    """The value in place of one that does not equal itself."""

    NAN = "nan"


_NAN: Final = b"\0NaN of viperstorm\0"
"""Stands for a value that does not equal itself where hashes are taken."""
_PLAIN: Final = frozenset((str, int, float, bool, bytes, NoneType))
"""Types whose values are looked up as they are."""


def _counted(value: Any) -> Any:
    """The value that another one is counted by: the same for equal keys and for NaN, also within tuples.

    Two NaN within tuples are equal or not by where they lie in memory, which processes differ in.
    """
    try:
        return comparable(value, _Value.NAN)
    except TypeError:
        return value  # of a class of its own, which says what it equals


class Distinct(Aggregate[dict[Any, int], int]):
    """The number of different values of a field: keys of a fields grouping, or of a dictionary.

    Values that are equal are one: 1, 1.0 and True. NaN values (no numbers) count as one value, too. Each
    different value is kept for as long as it is in the window.
    """

    def create(self) -> dict[Any, int]:
        """As in the base class: how often each value has come."""
        return {}

    def add(self, acc: dict[Any, int], value: Any) -> dict[Any, int]:
        """As in the base class."""
        if type(value) not in _PLAIN or value != value:
            value = _counted(value)
        acc[value] = acc.get(value, 0) + 1
        return acc

    def merge(self, first: dict[Any, int], second: dict[Any, int]) -> dict[Any, int]:
        """As in the base class."""
        return self.absorb(first.copy(), second)

    def absorb(self, acc: dict[Any, int], part: dict[Any, int]) -> dict[Any, int]:
        """As in the base class."""
        for value, count in part.items():
            acc[value] = acc.get(value, 0) + count
        return acc

    def result(self, acc: dict[Any, int]) -> int:
        """As in the base class."""
        return len(acc)

    def is_exact(self, acc: dict[Any, int]) -> bool:
        """As in the base class."""
        return True

    def subtract(self, acc: dict[Any, int], part: dict[Any, int]) -> dict[Any, int]:
        """As in the base class."""
        for value, count in part.items():
            left = acc[value] - count
            if left:
                acc[value] = left
            else:
                del acc[value]
        return acc


class ApproximateDistinct(Aggregate[Registers, int]):
    """The approximate number of different values of a field, by HyperLogLog.

    Each part of a window takes 2**precision bytes, however many values there are, and less while they are
    few. The standard error is 1.04 / sqrt(2**precision): 1.6 percent for a precision of 12, so that 95 of 100
    results are off by less than 3.3 percent. The result depends on the set of values alone, neither on their
    order nor on the process; equal values are one, as for `Distinct`, and so is NaN.

    Args:
        field: the field. Its values are those that can be keys of a fields grouping.
        precision: the number of bits by which registers are chosen, from 4 to 18.

    Raises:
        ValueError: there is no such precision.
    """

    def __init__(self, field: str | None = None, *, precision: int = 12) -> None:
        super().__init__(field)
        if not hyperloglog.LEAST_PRECISION <= precision <= hyperloglog.MOST_PRECISION:
            raise ValueError(
                f"ApproximateDistinct: precision is {precision!r}, expected "
                f"{hyperloglog.LEAST_PRECISION} to {hyperloglog.MOST_PRECISION}"
            )
        self.precision = precision
        """The number of bits by which registers are chosen."""

    def create(self) -> Registers:
        """As in the base class."""
        return {}

    def add(self, acc: Registers, value: Any) -> Registers:
        """As in the base class."""
        try:
            hashed = placing_hash(value)
        except TypeError:  # NaN, also within a tuple, is one value, as for `Distinct`; others are no keys
            hashed = placing_hash(comparable(value, _NAN))
        return hyperloglog.noted(acc, hashed, self.precision)

    def merge(self, first: Registers, second: Registers) -> Registers:
        """As in the base class."""
        return hyperloglog.union(first, second, self.precision)

    def result(self, acc: Registers) -> int:
        """As in the base class."""
        return round(hyperloglog.estimate(acc, self.precision))
