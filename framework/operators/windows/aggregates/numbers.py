"""Counts, sums, means and variances.

Integers are exact, of any size, so a window that slides subtracts what leaves it. Floats are rounded with
each addition, and subtraction would leave the errors behind: their parts are merged again, in a fixed order.

None is no number: all but `Count` leave it out, as SQL leaves out NULL.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from framework.operators.windows.aggregates.base import Aggregate


class Count(Aggregate[int, int]):
    """The number of tuples."""

    def __init__(self) -> None:
        super().__init__()

    def create(self) -> int:
        """As in the base class."""
        return 0

    def add(self, acc: int, value: Any) -> int:
        """As in the base class."""
        return acc + 1

    def merge(self, first: int, second: int) -> int:
        """As in the base class."""
        return first + second

    def is_exact(self, acc: int) -> bool:
        """As in the base class."""
        return True

    def subtract(self, acc: int, part: int) -> int:
        """As in the base class."""
        return acc - part


class Sum(Aggregate[Any, Any]):
    """The sum of the values of a field: numbers of any kind. None is left out; of no values the sum is 0."""

    def create(self) -> Any:
        """As in the base class."""
        return 0

    def add(self, acc: Any, value: Any) -> Any:
        """As in the base class."""
        return acc if value is None else acc + value

    def merge(self, first: Any, second: Any) -> Any:
        """As in the base class."""
        return first + second

    def is_exact(self, acc: Any) -> bool:
        """As in the base class."""
        return type(acc) is int

    def subtract(self, acc: Any, part: Any) -> Any:
        """As in the base class."""
        return acc - part


class Mean(Aggregate[tuple[int, Any], Any]):
    """The mean of the values of a field, without those that are None; None of no values.

    The sum is divided once, at the end: of integers the mean is the float next to it.
    """

    def create(self) -> tuple[int, Any]:
        """As in the base class: how many values there are, and their sum."""
        return (0, 0)

    def add(self, acc: tuple[int, Any], value: Any) -> tuple[int, Any]:
        """As in the base class."""
        return acc if value is None else (acc[0] + 1, acc[1] + value)

    def merge(self, first: tuple[int, Any], second: tuple[int, Any]) -> tuple[int, Any]:
        """As in the base class."""
        return (first[0] + second[0], first[1] + second[1])

    def result(self, acc: tuple[int, Any]) -> Any:
        """As in the base class."""
        count, total = acc
        return total / count if count else None

    def is_exact(self, acc: tuple[int, Any]) -> bool:
        """As in the base class."""
        return type(acc[1]) is int

    def subtract(self, acc: tuple[int, Any], part: tuple[int, Any]) -> tuple[int, Any]:
        """As in the base class."""
        return (acc[0] - part[0], acc[1] - part[1])


Moments = tuple[int, Any, Any]
"""The number of values, and two numbers.

For integers, these are their sum and the sum of their squares. For floats, they are their mean and the sum of
the squared distances from it.
"""


class Variance(Aggregate[Moments, "float | None"]):
    """The variance of the values of a field, without those that are None; None of fewer values than it needs.

    Of integers it is computed exactly and rounded once. Of floats it is updated by B. P. Welford's formula
    (1962), and parts are merged by that of T. F. Chan, G. H. Golub and R. J. LeVeque (1979): neither takes
    the difference of two large sums.

    Args:
        field: the field, whose values are integers or floats.
        sample: whether the values are a sample, so that their squares are divided by one less than how many
            they are.
    """

    def __init__(self, field: str | None = None, *, sample: bool = False) -> None:
        super().__init__(field)
        self.sample = sample
        """True if the values are a sample."""

    def create(self) -> Moments:
        """As in the base class."""
        return (0, 0, 0)

    def add(self, acc: Moments, value: Any) -> Moments:
        """As in the base class."""
        if value is None:
            return acc
        count, first, second = acc
        if isinstance(value, int) and type(first) is int:
            return (count + 1, first + value, second + value * value)
        count, mean, squares = _as_floats(acc)
        value = float(value)
        away = value - mean
        mean += away / (count + 1)
        return (count + 1, mean, squares + away * (value - mean))

    def merge(self, first: Moments, second: Moments) -> Moments:
        """As in the base class."""
        if not first[0] or not second[0]:
            return second if second[0] else first
        if type(first[1]) is int and type(second[1]) is int:
            return (first[0] + second[0], first[1] + second[1], first[2] + second[2])
        count, mean, squares = _as_floats(first)
        more, its_mean, its_squares = _as_floats(second)
        away, share = its_mean - mean, more / (count + more)
        return (count + more, mean + away * share, squares + its_squares + away * away * count * share)

    def result(self, acc: Moments) -> float | None:
        """As in the base class."""
        count, first, second = acc
        degrees = count - self.sample
        if degrees < 1:
            return None
        if type(first) is int:
            return float((count * second - first * first) / (count * degrees))
        return float(second / degrees)

    def is_exact(self, acc: Moments) -> bool:
        """As in the base class."""
        return type(acc[1]) is int

    def subtract(self, acc: Moments, part: Moments) -> Moments:
        """As in the base class."""
        return (acc[0] - part[0], acc[1] - part[1], acc[2] - part[2])


class StandardDeviation(Variance):
    """The square root of the `Variance`."""

    def result(self, acc: Moments) -> float | None:
        """As in the base class."""
        variance = super().result(acc)
        return None if variance is None else sqrt(variance)


def _as_floats(acc: Moments) -> Moments:
    """Moments as they are kept of floats."""
    count, first, second = acc
    if type(first) is not int:
        return acc
    return (count, first / count, (count * second - first * first) / count) if count else (0, 0.0, 0.0)
