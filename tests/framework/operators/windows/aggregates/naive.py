"""The value of each aggregate for a list of values, computed at once from all of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from framework.operators.windows.aggregates import (
    Aggregate,
    Collect,
    Count,
    Distinct,
    First,
    Last,
    Max,
    Mean,
    Min,
    StandardDeviation,
    Sum,
    TopK,
    Variance,
)

Values = Sequence[Any]


def least(values: Values) -> Any:
    return next((value for value in values if value != value), min(values, default=None))


def greatest(values: Values) -> Any:
    return next((value for value in values if value != value), max(values, default=None))


def top_three(values: Values) -> Any:
    return sorted((value for value in values if value == value), reverse=True)[:3]


def different(values: Values) -> int:
    return len({value for value in values if value == value}) + any(value != value for value in values)


def of_numbers(naive: Callable[[Values], Any]) -> Callable[[Values], Any]:
    """The function of the values that are not None, as SQL leaves out NULL."""
    return lambda values: naive([value for value in values if value is not None])


NAIVE: Sequence[tuple[Aggregate[Any, Any], Callable[[Values], Any]]] = (
    (Count(), len),
    (Sum(), of_numbers(sum)),
    (Mean(), of_numbers(lambda values: sum(values) / len(values) if values else None)),
    (
        Variance(),
        of_numbers(lambda values: float(statistics.pvariance(map(Fraction, values))) if values else None),
    ),
    (
        Variance(sample=True),
        of_numbers(
            lambda values: float(statistics.variance(map(Fraction, values))) if len(values) > 1 else None
        ),
    ),
    (
        StandardDeviation(),
        of_numbers(
            lambda values: math.sqrt(float(statistics.pvariance(map(Fraction, values)))) if values else None
        ),
    ),
    (Min(), of_numbers(least)),
    (Max(), of_numbers(greatest)),
    (TopK(k=3), of_numbers(top_three)),
    (First(), lambda values: values[0] if values else None),
    (Last(), lambda values: values[-1] if values else None),
    (Collect(), list),
    (Distinct(), different),
)
"""Of integers both are the same to the bit; of floats all are but `Sum`, `Mean` and those of variances."""
